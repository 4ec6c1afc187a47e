// Package tracingtest provides a trace collector for tests. It receives OTLP over gRPC and
// returns the spans that it received.
package tracingtest

import (
	"context"
	"encoding/hex"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// Collector stores the spans that it receives. It may be used concurrently.
type Collector struct {
	collectorv1.UnimplementedTraceServiceServer
	// URL is the address on which it listens.
	URL string

	mu    sync.Mutex
	spans []Span
}

// Span is a span and the service name of the program that created it.
type Span struct {
	*tracev1.Span
	Service string
}

// Start starts a collector that runs until the end of the test.
func Start(t testing.TB) *Collector {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Collector{URL: "http://" + listener.Addr().String()}
	server := grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, c)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// Export receives spans.
func (c *Collector) Export(_ context.Context,
	request *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		var service string
		for _, attribute := range resource.GetResource().GetAttributes() {
			if attribute.GetKey() == "service.name" {
				service = attribute.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, Span{span, service})
			}
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// Spans returns the spans received so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Tree returns a drawing of the trace whose root span has the given name. It has a line for
// each span, indented below its parent, in order of their start. Tree returns an empty
// string unless exactly one root span has that name.
func (c *Collector) Tree(root string) string {
	spans := c.Spans()
	slices.SortStableFunc(spans, func(a, b Span) int {
		return int(int64(a.GetStartTimeUnixNano()) - int64(b.GetStartTimeUnixNano()))
	})
	var roots []Span
	children := map[string][]Span{}
	for _, span := range spans {
		if len(span.GetParentSpanId()) == 0 {
			if span.GetName() == root {
				roots = append(roots, span)
			}
			continue
		}
		key := keyOf(span.GetTraceId(), span.GetParentSpanId())
		children[key] = append(children[key], span)
	}
	if len(roots) != 1 {
		return ""
	}
	var text strings.Builder
	var draw func(Span, int)
	draw = func(span Span, depth int) {
		kind := strings.ToLower(strings.TrimPrefix(span.GetKind().String(), "SPAN_KIND_"))
		text.WriteString(strings.Repeat("  ", depth) + span.Service + " " + kind + " " + span.GetName() + "\n")
		for _, child := range children[keyOf(span.GetTraceId(), span.GetSpanId())] {
			draw(child, depth+1)
		}
	}
	draw(roots[0], 0)
	return text.String()
}

func keyOf(trace, span []byte) string { return hex.EncodeToString(trace) + hex.EncodeToString(span) }
