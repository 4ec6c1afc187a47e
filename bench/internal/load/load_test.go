package load

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// newHTTP starts a server with a handler and returns an HTTP that sends requests to it.
func newHTTP(t *testing.T, handler http.HandlerFunc) HTTP {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return HTTP{
		Address: strings.TrimPrefix(server.URL, "http://"), Want: "SUCCESS",
		Request: []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
	}
}

func TestTheWholeBodyOfAReplyIsRead(t *testing.T) {
	for name, size := range map[string]int{"in one piece": 100, "longer than the buffer": 200_000} {
		for _, chunked := range []bool{false, true} {
			var asked atomic.Int64
			from := newHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				body := append([]byte("SUCCESS"), bytes.Repeat([]byte("x"), size)...)
				for len(body) > 0 {
					piece := body[:min(len(body), 50_000)]
					_, _ = w.Write(piece)
					if chunked {
						w.(http.Flusher).Flush()
					}
					body = body[len(piece):]
				}
			})
			connection, err := from.Open(0)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if err := connection.Do(t.Context()); err != nil {
					t.Errorf("%s, chunked %v: %v", name, chunked, err)
				}
			}
			if err := connection.Close(); err != nil || asked.Load() != 5 {
				t.Errorf("the server got %d requests, want 5; %v", asked.Load(), err)
			}
		}
	}
}

func TestAFailedRequestEndsTheRun(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"another status": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "SUCCESS", http.StatusServiceUnavailable) },
		"another body":   func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("FAILED")) },
		"no body":        func(http.ResponseWriter, *http.Request) {},
	} {
		if _, err := Closed(t.Context(), newHTTP(t, handler).Open, 2, time.Millisecond); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestARunThatIsOverBeforeItsFirstRequestMakesOnePerConnection(t *testing.T) {
	from := newHTTP(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("SUCCESS")) })
	result, err := Closed(t.Context(), from.Open, 2, 0)
	if err != nil || len(result.Latencies) != 2 {
		t.Errorf("%d requests, want 2; %v", len(result.Latencies), err)
	}
}

func TestAQuantileIsTheLatencyAtThatRank(t *testing.T) {
	var result Result
	for n := range 1000 {
		result.Latencies = append(result.Latencies, time.Duration(n))
	}
	if p50, p999, all := result.Quantile(0.5), result.Quantile(0.999), result.Quantile(1); p50 != 500 || p999 != 999 || all != 999 {
		t.Errorf("got %d, %d, %d, want 500, 999, 999", p50, p999, all)
	}
	if none := (Result{}).Quantile(0.5); none != 0 {
		t.Errorf("got %v for no latencies, want 0", none)
	}
}
