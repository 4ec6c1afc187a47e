package edge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/connlimit"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const listPois = Path + "?func=getCategoryPOIList&category=1"

// poisOf is a service of landmarks.
type poisOf = func(context.Context, *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error)

// poiPages lists landmarks in pages of 500. before, unless nil, runs before page n, from 0, and may fail.
func poiPages(pages int, before func(ctx context.Context, n int) error) poisOf {
	return func(ctx context.Context, r *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
		n, _ := strconv.Atoi(r.GetPageToken())
		if before != nil {
			if err := before(ctx, n); err != nil {
				return nil, err
			}
		}
		page := &poiv1.ListPoisResponse{}
		for i := range 500 {
			page.Summaries = append(page.Summaries, &typev1.Summary{Id: int64(n*500 + i + 1), Title: "landmark & name"})
		}
		if n+1 < pages {
			page.NextPageToken = strconv.Itoa(n + 1)
		}
		return page, nil
	}
}

// pausing lists pages, and one more when more is closed.
func pausing(pages int, more <-chan struct{}) poisOf {
	return poiPages(pages+1, func(ctx context.Context, n int) error {
		if n == pages {
			select {
			case <-more:
			case <-ctx.Done():
			}
		}
		return nil
	})
}

// failing lists pages, and fails then.
func failing(pages int, err error) poisOf {
	return poiPages(pages+1, func(_ context.Context, n int) error {
		if n == pages {
			return err
		}
		return nil
	})
}

// serve runs the edge on a real server with real connections.
func serve(t *testing.T, f *fakes, changes ...func(*Config)) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(newEdge(t, f, changes...))
	t.Cleanup(server.Close)
	return server
}

// tooMany is more pages than the edge asks for when nobody reads them.
const tooMany = 100_000

// endless serves a list that is too long to be sent whole. stopped gets the number of its pages when its reply has ended.
func endless(t *testing.T, changes ...func(*Config)) (server *httptest.Server, stopped <-chan int64) {
	t.Helper()
	var asked atomic.Int64
	ended := make(chan int64, 1)
	h := newEdge(t, &fakes{pois: poiPages(tooMany, func(context.Context, int) error {
		asked.Add(1)
		return nil
	})}, changes...)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- asked.Swap(0) }()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server, ended
}

func fetch(t *testing.T, method, url string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestALongListArrivesWholeAndInPieces(t *testing.T) {
	server := serve(t, &fakes{pois: poiPages(40, nil)})
	for _, format := range []string{"XML", "JSON"} {
		response := fetch(t, http.MethodGet, server.URL+listPois+"&responseFormat="+format) // the client asks for gzip
		body := readAll(t, response.Body)
		if response.ContentLength != -1 || !response.Uncompressed {
			t.Errorf("%s: length %d, compressed %v", format, response.ContentLength, response.Uncompressed)
		}
		if got := strings.Count(body, "landmark &"); got != 20000 {
			t.Errorf("%s: %d landmarks", format, got)
		}
		if format == "XML" && !strings.HasSuffix(body, "<POI20000><POIID>20000</POIID><name>landmark &amp; name</name></POI20000></POIList></response>") {
			t.Errorf("the list ends in %q", body[len(body)-200:])
		}
		checkDocument(t, format, body)
	}
}

func TestTheFirstPageDoesNotWaitForTheSecond(t *testing.T) {
	more := make(chan struct{})
	server := serve(t, &fakes{pois: pausing(1, more)})
	response := fetch(t, http.MethodGet, server.URL+listPois)
	reader := bufio.NewReader(response.Body)
	first, err := reader.ReadString('>')
	if err != nil || !strings.HasPrefix(first, "<?xml") {
		t.Fatalf("got %q, %v", first, err)
	}
	close(more)
	if got := strings.Count(readAll(t, reader), "<name>"); got != 1000 {
		t.Errorf("%d landmarks", got)
	}
}

func TestAListThatFailsEarlyIsAFailureAndALaterOneBreaksTheConnection(t *testing.T) {
	away := status.Error(codes.Unavailable, "gone")
	for _, pages := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) { // the failure comes before the wait for it ends
			w := get(newEdge(t, &fakes{pois: failing(pages, away)}), "func=getCategoryPOIList&category=1")
			if w.Code != http.StatusServiceUnavailable || w.Body.String() != failed("SERVICE UNAVAILABLE") {
				t.Errorf("%d pages: %d %s", pages, w.Code, w.Body)
			}
		})
	}
	response := fetch(t, http.MethodGet, serve(t, &fakes{pois: failing(40, away)}).URL+listPois)
	if body, err := io.ReadAll(response.Body); err == nil || strings.Contains(string(body), "</response>") {
		t.Errorf("40 pages: %v after %d bytes", err, len(body))
	}
}

// Without chunks, the regular end of a connection is the end of a reply.
func TestAListThatFailsLaterResetsTheConnectionOfAnHTTP10Client(t *testing.T) {
	server := httptest.NewUnstartedServer(newEdge(t, &fakes{pois: failing(40, errors.New("the store is gone"))}))
	limits := connlimit.New(connlimit.Limits{})
	server.Listener = limits.ListenHTTP(server.Listener, server.Config, 0)
	server.Start()
	t.Cleanup(server.Close)
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "GET %s HTTP/1.0\r\n\r\n", listPois)
	if list, err := io.ReadAll(connection); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v after %d bytes", err, len(list))
	}
	if open := limits.Stats().Open; open != 0 {
		t.Errorf("%d connections are open", open)
	}
}

func TestAClientThatLeavesStopsTheList(t *testing.T) {
	server, stopped := endless(t)
	response := fetch(t, http.MethodGet, server.URL+listPois)
	if _, err := io.CopyN(io.Discard, response.Body, 1000); err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if asked := <-stopped; asked == tooMany {
		t.Error("the edge asked for everything")
	}
}

func TestAClientThatDoesNotReadIsDisconnected(t *testing.T) {
	server, stopped := endless(t, func(c *Config) { c.WriteTimeout = 50 * time.Millisecond })
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", listPois)
	if asked := <-stopped; asked == tooMany {
		t.Error("the edge asked for everything")
	}
}

func TestTheCallTimeoutBoundsEachPageAndNotTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newEdge(t, &fakes{pois: poiPages(11, func(ctx context.Context, n int) error {
			if n == 10 {
				<-ctx.Done() // send nothing more
				return ctx.Err()
			}
			time.Sleep(DefaultCallTimeout / 2)
			return nil
		})})
		w, began := httptest.NewRecorder(), time.Now()
		defer func() {
			// Ten waits of half the timeout, and one that times out.
			if took := time.Since(began); took != 6*DefaultCallTimeout {
				t.Errorf("it took %v", took)
			}
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("the connection was not broken: %v", p)
			}
			if got := strings.Count(w.Body.String(), "<name>"); got != 5000 {
				t.Errorf("%d landmarks", got)
			}
		}()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, listPois, nil))
	})
}

// The next two tests need real connections, whose deadlines do not use the fake clock.

func TestAMissingBodyIsATimeout(t *testing.T) {
	server := serve(t, &fakes{}, func(c *Config) { c.WriteTimeout = 20 * time.Millisecond })
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nfunc", Path)
	reply := readAll(t, connection)
	if !strings.HasPrefix(reply, "HTTP/1.1 408 ") || !strings.HasSuffix(reply, failed("REQUEST TIMEOUT")) {
		t.Errorf("got %s", reply)
	}
}

func TestTheBodyTimeoutDoesNotCutTheReply(t *testing.T) {
	const timeout = 250 * time.Millisecond // a busy machine writes the reply within it
	server := serve(t, &fakes{pois: poiPages(1, func(context.Context, int) error {
		time.Sleep(2 * timeout)
		return nil
	})}, func(c *Config) { c.WriteTimeout = timeout })
	body := strings.NewReader("func=getCategoryPOIList&category=1")
	response, err := http.Post(server.URL+Path, "application/x-www-form-urlencoded", body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := strings.Count(readAll(t, response.Body), "<name>"); got != 500 {
		t.Errorf("%d landmarks", got)
	}
}
