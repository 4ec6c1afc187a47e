package program

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/requestid"
	"github.com/waybook/waybook/internal/platform/tracing"
)

// entrance collects the metrics, spans and log lines of requests.
type entrance struct {
	metrics *process.Metrics
	spans   *tracetest.InMemoryExporter
	log     bytes.Buffer
}

// request sends one request through requests. Its handler reports the given answer.
func (e *entrance) request(t *testing.T, isLogged bool, answer edge.Answer, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	e.metrics, e.spans = process.NewMetrics(), tracetest.NewInMemoryExporter()
	var env process.Env
	env.Log = slog.New(slog.NewTextHandler(&e.log, nil))
	env.Tracing = tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(e.spans)))
	requests := newRequests(env, e.metrics, isLogged)
	handler := requests.follow(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := requestid.From(r.Context()); id == "" || id != w.Header().Get("X-Request-Id") {
			t.Errorf("the request has the id %q, its reply %q", id, w.Header().Get("X-Request-Id"))
		}
		if !strings.Contains(e.scrape(), "waybook_edge_requests_in_flight 1") {
			t.Error("the request is not in flight")
		}
		requests.observe(r, answer)
		if answer.Reason == "CLIENT_GONE" {
			panic(http.ErrAbortHandler)
		}
	}))
	r := httptest.NewRequest(http.MethodPost, "/API.php?func=addAlbum&secret=s3cr3t", strings.NewReader("secret=s3cr3t"))
	r.RemoteAddr = "192.0.2.7:4711"
	if change != nil {
		change(r)
	}
	recorder := httptest.NewRecorder()
	func() {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
		}()
		handler.ServeHTTP(recorder, r)
	}()
	if !strings.Contains(e.scrape(), "waybook_edge_requests_in_flight 0") {
		t.Error("the request is still in flight")
	}
	return recorder
}

func (e *entrance) scrape() string {
	recorder := httptest.NewRecorder()
	process.AdminHandler(process.NewReadiness(), e.metrics).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return recorder.Body.String()
}

var answered = edge.Answer{Function: "addAlbum", Reason: "NOT_OWNER", Status: 200, Bytes: 111, Elapsed: 1500 * time.Microsecond}

func TestARequestIsOneLineOfTheAccessLog(t *testing.T) {
	var e entrance
	e.request(t, true, answered, nil)
	const want = `level=INFO msg=request method=POST func=addAlbum reason=NOT_OWNER status=200 bytes=111 duration_ms=1.5 remote=192.0.2.7`
	if got := e.log.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "s3cr3t") {
		t.Errorf("got %s", got)
	}
	e.log.Reset()
	e.request(t, false, answered, nil)
	if e.log.Len() > 0 {
		t.Errorf("with the access log off it logs %s", e.log.String())
	}
}

func TestFailuresWithoutALineAreCounted(t *testing.T) {
	var e entrance
	leftOut := answered
	leftOut.IsLeftOut = true
	for want, answer := range []edge.Answer{answered, leftOut} {
		e.request(t, false, answer, nil)
		if line := fmt.Sprint("waybook_edge_failures_left_out_total ", want); !strings.Contains(e.scrape(), line) {
			t.Errorf("no %q", line)
		}
	}
}

func TestUnknownMethodsAreLoggedAsOneWord(t *testing.T) {
	var e entrance
	e.request(t, true, answered, func(r *http.Request) { r.Method = "S3CR3T" })
	if got := e.log.String(); !strings.Contains(got, "method=_OTHER") || strings.Contains(got, "S3CR3T") {
		t.Errorf("got %s", got)
	}
}

func TestARequestStartsItsOwnTrace(t *testing.T) {
	var e entrance
	e.request(t, false, answered, func(r *http.Request) {
		r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		r.Header.Set("X-Request-Id", "mine")
	})
	span := e.spans.GetSpans()[0]
	if span.Parent.IsValid() || span.SpanContext.TraceID().String() == "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("it continues the client's trace: %v", span.SpanContext)
	}
	if span.Name != "addAlbum" || span.Status.Code != codes.Unset {
		t.Errorf("%s is %v", span.Name, span.Status)
	}
	e.request(t, false, edge.Answer{Reason: "INTERNAL_ERROR", Status: 200}, func(r *http.Request) { r.Header.Set("Traceparent", "00-nonsense") })
	if span := e.spans.GetSpans()[0]; span.Status.Code != codes.Error {
		t.Errorf("status %v", span.Status)
	}
}

func TestARequestThatIsCutOffEndsItsSpan(t *testing.T) {
	var e entrance
	e.request(t, false, edge.Answer{Function: "getAlbum", Reason: "CLIENT_GONE"}, nil)
	if spans := e.spans.GetSpans(); len(spans) != 1 || spans[0].EndTime.IsZero() {
		t.Errorf("got %v", spans)
	}
}

func TestARequestIDFromAClientIsIgnored(t *testing.T) {
	var e entrance
	reply := e.request(t, false, answered, func(r *http.Request) { r.Header.Set("X-Request-Id", "mine") })
	if id := reply.Header().Get("X-Request-Id"); len(id) != 32 {
		t.Errorf("the request id is %q", id)
	}
}
