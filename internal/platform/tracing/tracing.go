// Package tracing traces requests through Waybook with OpenTelemetry. The edge, each RPC
// (over TCP or in process) and each call to the store have a span.
package tracing

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// scope is the name of the instrumentation in the spans.
const scope = "github.com/waybook/waybook"

// Tracing creates the spans of a program. The zero value creates none, at no cost. It may
// be used concurrently.
type Tracing struct {
	provider trace.TracerProvider
	tracer   trace.Tracer
	slow     *Slow
}

// New returns a Tracing that creates its spans with a provider.
func New(provider trace.TracerProvider) Tracing {
	return Tracing{provider: provider, tracer: provider.Tracer(scope)}
}

// Tracer returns the tracer; nil if tracing is off.
func (t Tracing) Tracer() trace.Tracer { return t.tracer }

// Slow returns the kept slow requests; nil if none are kept.
func (t Tracing) Slow() *Slow { return t.slow }

// ServerOptions create a span for each call that a gRPC server receives. Its parent is the
// caller's span: every client that may call is trusted.
func (t Tracing) ServerOptions() []grpc.ServerOption {
	if t.tracer == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(t.options()...))}
}

// DialOptions create a span for each call over a connection and propagate it to the server.
func (t Tracing) DialOptions() []grpc.DialOption {
	if t.tracer == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithStatsHandler(otelgrpc.NewClientHandler(t.options()...))}
}

func (t Tracing) options() []otelgrpc.Option {
	return []otelgrpc.Option{
		otelgrpc.WithTracerProvider(t.provider),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		// Prometheus collects the metrics.
		otelgrpc.WithMeterProvider(noop.NewMeterProvider()),
		otelgrpc.WithFilter(func(info *stats.RPCTagInfo) bool { return isOurs(info.FullMethodName) }),
	}
}

// isOurs reports whether a method is one of Waybook's contracts: no health check, no reflection, and no
// name that a client has made up.
func isOurs(method string) bool {
	if !strings.HasPrefix(method, "/waybook.") {
		return false
	}
	of, name, _ := strings.Cut(method[1:], "/")
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(of)) // nil if there is none
	service, isService := found.(protoreflect.ServiceDescriptor)
	return isService && service.Methods().ByName(protoreflect.Name(name)) != nil
}

// Carry returns ctx with the span of another context. It is for calls within the process,
// whose context is not derived from the caller's.
func Carry(ctx, from context.Context) context.Context {
	if span := trace.SpanFromContext(from); span.SpanContext().IsValid() {
		return trace.ContextWithSpan(ctx, span)
	}
	return ctx
}

// StartCall starts the span of a call within the process. The returned function ends it.
func (t Tracing) StartCall(ctx context.Context, method string) (context.Context, func(error)) {
	if t.tracer == nil || !isOurs(method) {
		return ctx, func(error) {}
	}
	method = strings.TrimPrefix(method, "/")
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("rpc.system.name", "grpc"), attribute.String("rpc.method", method)))
	return ctx, func(err error) {
		if err != nil {
			code := status.Code(err)
			span.SetAttributes(attribute.String("rpc.response.status_code", code.String()))
			span.SetStatus(codes.Error, code.String())
		}
		span.End()
	}
}

// StartRequest starts the span of a request from the internet. The returned function ends
// it. The span always starts a new trace, so that clients cannot decide which requests are
// traced. If the client sends a trace context, the span links to it.
func (t Tracing) StartRequest(ctx context.Context, request *http.Request) (context.Context, func()) {
	if t.tracer == nil {
		return ctx, func() {}
	}
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer)}
	theirs := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(request.Header)))
	if theirs.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: theirs.WithTraceState(trace.TraceState{})}))
	}
	ctx, span := t.tracer.Start(ctx, "request", options...)
	return ctx, func() { span.End() }
}
