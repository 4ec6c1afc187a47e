package process

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/platform/connlimit"
)

// listen serves the length of each query on loopback.
func listen(t *testing.T) string {
	t.Helper()
	return listenWith(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%d", len(r.URL.RawQuery)) })
}

// listenWith serves a handler on loopback until the test ends. Its timeouts are short, because real
// connections do not use a fake clock. No test asserts how long anything took.
func listenWith(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	var http1 http.Protocols
	http1.SetHTTP1(true)
	return serveShortly(t, newServer(handler, http1, shortly))
}

const short = 200 * time.Millisecond

// shortly gives a reply more time than a body, as a program does: it begins when that is given up.
var shortly = patience{header: short, body: short, piece: 10 * short, idle: short}

func serveShortly(t *testing.T, server *http.Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := connlimit.New(connlimit.Limits{}).ListenHTTP(listener, server, maxHeaderFields)
	// The server keeps a connection open for half a second after it rejects a request, and
	// Close does not wait for that. The leak check would report its goroutine.
	var running sync.WaitGroup
	follow := server.ConnState
	server.ConnState = func(c net.Conn, state http.ConnState) {
		follow(c, state)
		switch state {
		case http.StateNew:
			running.Add(1)
		case http.StateClosed:
			running.Done()
		}
	}
	running.Go(func() { _ = server.Serve(limited) })
	t.Cleanup(func() {
		_ = server.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

// converse sends pieces and reads until the server closes the connection. A client that
// sends nothing more waits for that.
func converse(t *testing.T, address string, pieces ...string) string {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	_ = connection.SetDeadline(time.Now().Add(time.Minute)) // instead of a test that hangs
	for _, piece := range pieces {
		if _, err := io.WriteString(connection, piece); err != nil {
			break // the server has closed the connection
		}
	}
	reply, err := io.ReadAll(connection)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection stays open: %v", err)
	}
	return string(reply)
}

func TestAClientThatDoesNotFinishItsHeaderIsDropped(t *testing.T) {
	t.Parallel()
	address := listen(t)
	for _, begun := range []string{"", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n"} {
		if reply := converse(t, address, begun); strings.Contains(reply, "200 OK") {
			t.Errorf("%q was answered: %s", begun, reply)
		}
	}
}

func TestAnIdleClientIsDropped(t *testing.T) {
	t.Parallel()
	reply := converse(t, listen(t), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if strings.Count(reply, "200 OK") != 1 {
		t.Errorf("got %s", reply)
	}
}

func TestAHeaderIsBounded(t *testing.T) {
	t.Parallel()
	address := listen(t)
	for _, c := range []struct {
		bytes, fields int
		status        string
	}{
		{maxHeaderBytes / 2, maxHeaderFields, "200 OK"},
		{2 * maxHeaderBytes, maxHeaderFields + 1, "431 "},
		{8 * maxHeaderBytes, 42_500, "431 "},
	} {
		for _, request := range []string{
			"GET /?" + strings.Repeat("x", c.bytes) + " HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("x", c.bytes) + "\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", c.fields-1) + "\r\n",
		} {
			if reply := converse(t, address, request); reply != "" && !strings.HasPrefix(reply, "HTTP/1.1 "+c.status) {
				t.Errorf("%d bytes, %d fields: %.100s", c.bytes, c.fields, reply)
			}
		}
	}
}

// generalOptions begins a request that net/http would answer itself.
const generalOptions = "OPTIONS *"

// No handler has to think of a body that it does not read, or of a client that does not read.
func TestAClientThatStopsWithinItsBodyOrTheReplyIsDropped(t *testing.T) {
	t.Parallel()
	address := listen(t)
	for _, lengths := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
		for _, begin := range []string{"POST /", generalOptions} {
			reply := converse(t, address, begin+" HTTP/1.1\r\nHost: x\r\n"+lengths+"\r\n\r\n1\r\n")
			if strings.Count(reply, "200 OK") != 1 {
				t.Errorf("a body of %s that ends early, %s: %q", begin, lengths, reply)
			}
		}
	}
	written := make(chan error)
	address = listenWith(t, func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 64<<20)) // no buffer has room for it
		written <- err
	})
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-written; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a client that does not read: %v", err)
	}
}

// A proxy that used the length may take bytes of the body for another request.
func TestAChunkedRequestIsTheLastOfItsConnection(t *testing.T) {
	t.Parallel()
	address := listen(t)
	const hidden = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for header, want := range map[string]int{
		" HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n0\r\n\r\n":                                     2,
		" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":                            1,
		" HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":       1,
		" HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n":                      1,
		" HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n": 1,
	} {
		for _, begin := range []string{"POST /", generalOptions} {
			if reply := converse(t, address, begin+header+hidden); strings.Count(reply, "200 OK") != want {
				t.Errorf("%q: got %q, want %d replies", begin+header, reply, want)
			}
		}
	}
}

// A health check waits for its message, and a profile lasts longer than a body may take.
func TestABodyOfTheAdminPortHasADeadlineAndAReplyALaterOne(t *testing.T) {
	t.Parallel()
	var begun atomic.Int64
	last := make(chan error, 2)
	address := serveShortly(t, newAdminServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		if r.Method == http.MethodPost {
			_, err := io.ReadAll(r.Body)
			last <- err
			return
		}
		select {
		case <-r.Context().Done():
			last <- r.Context().Err()
		case <-time.After(3 * short):
			last <- nil
		}
	}), shortly))
	// ask returns what the handler saw of a request. On a busy machine the header may take too long: then it asks again.
	ask := func(client *http.Client, method string, body io.Reader) error {
		for range 100 {
			before := begun.Load()
			request, err := http.NewRequest(method, "http://"+address, body)
			if err != nil {
				return err
			}
			if response, err := client.Do(request); err == nil {
				_ = response.Body.Close()
			}
			if begun.Load() > before {
				return <-last
			}
		}
		return errors.New("no handler gets the request")
	}
	for _, isHTTP2 := range []bool{false, true} {
		var protocols http.Protocols
		protocols.SetHTTP1(!isHTTP2)
		protocols.SetUnencryptedHTTP2(isHTTP2)
		client := http.Client{Transport: &http.Transport{Protocols: &protocols}}
		body, unfinished := io.Pipe()
		if err := ask(&client, http.MethodPost, io.NopCloser(body)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("HTTP/2 %v: a body that never ends: %v", isHTTP2, err)
		}
		_ = unfinished.Close()
		if err := ask(&client, http.MethodGet, nil); err != nil {
			t.Errorf("HTTP/2 %v: a slow reply: %v", isHTTP2, err)
		}
		client.CloseIdleConnections()
	}
}
