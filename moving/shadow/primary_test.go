package shadow

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/requestid"
)

// newPrimary serves a Shadow with an old server that answers the clients.
func newPrimary(t *testing.T, old http.HandlerFunc, changes ...func(*Config)) (*Shadow, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(old)
	t.Cleanup(server.Close)
	config := Config{Zone: time.UTC, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Edge: http.NotFoundHandler()}
	if err := config.Flags.Primary.Set(server.URL); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(&config)
	}
	s := New(config)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(requestid.Header, "ours")
		s.ServeHTTP(w, r.WithContext(requestid.With(r.Context(), "ours")))
	}))
	t.Cleanup(front.Close)
	return s, front
}

// A client has a long reply before its request has left its place. So the next one may wait.
func TestARequestTakesAPlaceWhenItsBodyHasArrived(t *testing.T) {
	_, front := newPrimary(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}, func(c *Config) {
		c.Load = edge.Load{Requests: admission.New(admission.Limits{Slots: 1, Queue: 1, Wait: 20 * time.Second})}
	})
	slow, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Close() }()
	const begun = "POST /API.php HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 5\r\n\r\n"
	if _, err := io.WriteString(slow, begun); err != nil {
		t.Fatal(err)
	}
	// The program reads the body when it asks for it.
	asked := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(slow, asked); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"", "short", strings.Repeat("long", maxReceived)} {
		reply, err := http.Post(front.URL+"/upload", "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(reply.Body)
		if closeErr := reply.Body.Close(); err != nil || closeErr != nil || reply.StatusCode != http.StatusOK || string(got) != body {
			t.Errorf("beside a body that has not arrived, %d bytes got %s and %d bytes, %v", len(body), reply.Status, len(got), err)
		}
	}
	if _, err := io.WriteString(slow, "whole"); err != nil {
		t.Fatal(err)
	}
	reply, err := io.ReadAll(slow)
	if err != nil || !strings.HasPrefix(string(reply), "HTTP/1.1 200 OK") || !strings.HasSuffix(string(reply), "whole") {
		t.Errorf("got %q, %v", reply, err)
	}
}

func TestAnOldServerMayReplyWhileABodyArrives(t *testing.T) {
	_, front := newPrimary(t, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if err := errors.Join(control.EnableFullDuplex(), control.Flush()); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(w, r.Body)
	})
	client, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := client.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	const last = "the end of the body"
	begun := fmt.Sprintf("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", maxReceived+len(last))
	if _, err := io.WriteString(client, begun+strings.Repeat("x", maxReceived)); err != nil {
		t.Fatal(err)
	}
	reply, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(client, last); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(reply.Body)
	if closeErr := reply.Body.Close(); err != nil || closeErr != nil || len(got) != maxReceived+len(last) || !strings.HasSuffix(string(got), last) {
		t.Errorf("%d bytes came back, %v, %v", len(got), err, closeErr)
	}
}

func TestTheBodiesOfAPrimaryShareTheMemoryOfForms(t *testing.T) {
	_, front := newPrimary(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}, func(c *Config) { c.Load.ClientFormPieces = admission.NewPerKey(1) })
	for length, want := range map[int]int{1000: http.StatusOK, 1 << 20: http.StatusServiceUnavailable} {
		reply, err := http.Post(front.URL+"/API.php", "text/plain", strings.NewReader(strings.Repeat("x", length)))
		if err != nil {
			t.Fatal(err)
		}
		if err := reply.Body.Close(); err != nil || reply.StatusCode != want {
			t.Errorf("%d bytes got %s, %v", length, reply.Status, err)
		}
	}
}

func TestTheOldServerGetsNoHeaderByWhichAClientSaysWhoItIs(t *testing.T) {
	var got http.Header
	_, front := newPrimary(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set(requestid.Header, "theirs")
	})
	request, err := http.NewRequest(http.MethodGet, front.URL+"/API.php", nil)
	if err != nil {
		t.Fatal(err)
	}
	const invented = "203.0.113.7"
	for _, name := range []string{
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded", "X-Real-Ip",
		"X-Client-Ip", "X-Cluster-Client-Ip", "X-Originating-Ip", "X-Remote-Ip", "X-Remote-Addr", "Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Via", requestid.Header,
	} {
		request.Header.Set(name, invented)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := reply.Body.Close(); err != nil {
		t.Fatal(err)
	}
	for name, values := range got {
		if strings.Contains(strings.Join(values, " "), invented) {
			t.Errorf("%s: %s is what the client invented", name, values)
		}
	}
	if got.Get("X-Forwarded-For") != "127.0.0.1" || got.Get("X-Real-Ip") != "127.0.0.1" || got.Get(requestid.Header) != "ours" {
		t.Errorf("got %v", got)
	}
	if ids := reply.Header.Values(requestid.Header); len(ids) != 1 || ids[0] != "ours" {
		t.Errorf("the client got the request ids %s", ids)
	}
}

// Copies take memory from the first byte on, and not only once they wait for a comparison.
func TestCopiesOfRepliesUnderWayAreCountedWithThoseThatWait(t *testing.T) {
	goOn := make(chan struct{})
	s, front := newPrimary(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, maxReply/2))
		_ = http.NewResponseController(w).Flush()
		<-goOn
	}, func(c *Config) { c.Flags.Sample = 1 })
	const readers = 2 * queueBytes / (maxReply / 2)
	var begun, done sync.WaitGroup
	begun.Add(readers)
	for range readers {
		done.Go(func() {
			reply, err := http.Get(front.URL + "/API.php?func=getAlbum&albumID=1")
			if err == nil {
				_, err = io.CopyN(io.Discard, reply.Body, maxReply/2)
			}
			begun.Done()
			if err != nil {
				t.Error(err)
				return
			}
			_, err = io.Copy(io.Discard, reply.Body)
			if closeErr := reply.Body.Close(); err != nil || closeErr != nil {
				t.Error(err, closeErr)
			}
		})
	}
	begun.Wait()
	if taken := s.memory.taken.Load(); taken <= 0 || taken > queueBytes {
		t.Errorf("the copies take %d bytes, want some, and at most %d", taken, queueBytes)
	}
	close(goOn)
	done.Wait()
	front.Close() // waits for the handlers
	for len(s.queue) > 0 {
		next := <-s.queue
		s.memory.give(next.size())
	}
	if taken := s.memory.taken.Load(); taken != 0 {
		t.Errorf("%d bytes are still counted", taken)
	}
}
