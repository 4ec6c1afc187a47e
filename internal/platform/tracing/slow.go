package tracing

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/platform/requestid"
)

// The limits of what a program keeps of slow requests: about 1 MiB.
const (
	maxSlowRequests = 64
	maxSlowSpans    = 100
	// maxLiveSpans bounds the spans that have not ended. Requests in flight have far fewer.
	maxLiveSpans = 16_384
)

// SlowRequest is what a program did for a request that took long.
type SlowRequest struct {
	// RequestID is the X-Request-Id of the request; empty if it did not come through an edge.
	RequestID string    `json:"request_id"`
	TraceID   string    `json:"trace_id"`
	Began     time.Time `json:"began"`
	// Milliseconds is how long the program took.
	Milliseconds float64 `json:"ms"`
	// Spans are in the order in which they began; the first is the whole request.
	Spans []SlowSpan `json:"spans"`
	// LeftOut is how many further spans there were.
	LeftOut int `json:"left_out,omitempty"`
}

// SlowReply is the reply of an admin port: the program, and the requests that it has kept.
type SlowReply struct {
	Program  string        `json:"program"`
	Requests []SlowRequest `json:"requests"`
}

// SlowSpan is a part of a request. It names operations, methods and collections, and nobody.
type SlowSpan struct {
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"`
	// Name is an operation, a method, or a verb with a collection. Kind is server, client or
	// internal.
	Name         string    `json:"name"`
	Kind         string    `json:"kind"`
	Began        time.Time `json:"began"`
	Milliseconds float64   `json:"ms"`
	// Outcome is how it failed, such as a reason or a status code; empty for a success.
	Outcome string `json:"outcome,omitempty"`
}

// Slow keeps the last requests that took at least a threshold, with their spans. It is a span
// processor, and may be used concurrently.
type Slow struct {
	program   string
	threshold time.Duration

	mu sync.Mutex
	// live are the requests of the spans that have not ended.
	live map[trace.SpanID]*running
	// kept are the slow requests, the oldest first.
	kept []SlowRequest
}

// running is a request that a program is serving.
type running struct {
	root      trace.SpanID
	requestID string
	spans     []SlowSpan
	leftOut   int
}

// NewSlow returns the Slow of a program, without requests.
func NewSlow(program string, threshold time.Duration) *Slow {
	return &Slow{program: program, threshold: threshold, live: map[trace.SpanID]*running{}}
}

// All returns the kept requests, the latest first.
func (s *Slow) All() SlowReply {
	s.mu.Lock()
	defer s.mu.Unlock()
	latest := append([]SlowRequest{}, s.kept...)
	slices.Reverse(latest)
	return SlowReply{s.program, latest}
}

// Of returns the kept parts of a request, by its request id or its trace id. A program has
// several parts of a request if another program called it more than once.
func (s *Slow) Of(id string) SlowReply {
	reply := s.All()
	reply.Requests = slices.DeleteFunc(reply.Requests, func(r SlowRequest) bool { return r.RequestID != id && r.TraceID != id })
	return reply
}

// OnStart adds a span to its request. A span without a parent in this process begins one.
func (s *Slow) OnStart(ctx context.Context, span sdktrace.ReadWriteSpan) {
	own, parent := span.SpanContext().SpanID(), span.Parent()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.live) >= maxLiveSpans {
		return
	}
	request := s.live[parent.SpanID()]
	if request == nil {
		if parent.IsValid() && !parent.IsRemote() {
			return // its request has ended, or there were too many
		}
		request = &running{root: own, requestID: requestid.From(ctx)}
	}
	s.live[own] = request
}

// OnEnd records a span. The end of a request's first span decides whether it is kept.
func (s *Slow) OnEnd(span sdktrace.ReadOnlySpan) {
	own := span.SpanContext().SpanID()
	s.mu.Lock()
	defer s.mu.Unlock()
	request := s.live[own]
	if request == nil {
		return
	}
	delete(s.live, own)
	isRoot := own == request.root
	if len(request.spans) < maxSlowSpans || isRoot {
		request.spans = append(request.spans, slowSpan(span))
	} else {
		request.leftOut++
	}
	if elapsed := span.EndTime().Sub(span.StartTime()); isRoot && elapsed >= s.threshold {
		s.keep(request, span)
	}
}

func (s *Slow) keep(request *running, root sdktrace.ReadOnlySpan) {
	spans := slices.Clone(request.spans)
	slices.SortStableFunc(spans, func(a, b SlowSpan) int { return a.Began.Compare(b.Began) })
	if len(s.kept) == maxSlowRequests {
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	s.kept = append(s.kept, SlowRequest{
		RequestID: request.requestID, TraceID: root.SpanContext().TraceID().String(), Began: root.StartTime().UTC(),
		Milliseconds: milliseconds(root), Spans: spans, LeftOut: request.leftOut,
	})
}

// Shutdown does nothing.
func (s *Slow) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (s *Slow) ForceFlush(context.Context) error { return nil }

func slowSpan(span sdktrace.ReadOnlySpan) SlowSpan {
	kept := SlowSpan{
		ID: span.SpanContext().SpanID().String(), Name: span.Name(), Kind: span.SpanKind().String(),
		Began: span.StartTime().UTC(), Milliseconds: milliseconds(span),
	}
	if span.Parent().IsValid() {
		kept.Parent = span.Parent().SpanID().String()
	}
	for _, each := range span.Attributes() {
		switch each.Key {
		case "waybook.reason", "rpc.response.status_code":
			kept.Outcome = outcomeOf(each.Value)
		case "waybook.outcome":
			if outcome := each.Value.AsString(); outcome != "ok" {
				kept.Outcome = outcome
			}
		}
	}
	if kept.Outcome == "" && span.Status().Code == codes.Error {
		kept.Outcome = "error"
	}
	return kept
}

// outcomeOf returns a reason or a status code, or "" for a success.
func outcomeOf(value attribute.Value) string {
	if text := value.AsString(); text != "OK" {
		return text
	}
	return ""
}

func milliseconds(span sdktrace.ReadOnlySpan) float64 {
	return float64(span.EndTime().Sub(span.StartTime()).Microseconds()) / 1000
}
