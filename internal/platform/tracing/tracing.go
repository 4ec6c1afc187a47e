// Package tracing traces requests through Waybook with OpenTelemetry. The edge, each RPC
// (over TCP or in process) and each call to the store have a span.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
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
}

// New returns a Tracing that creates its spans with a provider.
func New(provider trace.TracerProvider) Tracing {
	return Tracing{provider: provider, tracer: provider.Tracer(scope)}
}

// Tracer returns the tracer; nil if tracing is off.
func (t Tracing) Tracer() trace.Tracer { return t.tracer }

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

// isOurs reports whether a method is one of Waybook's contracts: no health check, no reflection,
// and no name that a client has made up.
func isOurs(method string) bool {
	if !strings.HasPrefix(method, "/waybook.") {
		return false
	}
	of, name, _ := strings.Cut(method[1:], "/")
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(of)) // nil if there is none
	service, isService := found.(protoreflect.ServiceDescriptor)
	return isService && service.Methods().ByName(protoreflect.Name(name)) != nil
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

// StartRequest starts the span of a request from the internet. The returned function ends it. The
// span starts a new trace whatever the client sends, so that clients cannot decide which requests
// are traced.
func (t Tracing) StartRequest(ctx context.Context) (context.Context, func()) {
	if t.tracer == nil {
		return ctx, func() {}
	}
	ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func() { span.End() }
}

// flushTime bounds how long a stopping program takes to send the last spans. Like the drain
// times of the ports, it is part of the total shutdown time.
const flushTime = 2 * time.Second

// Flags configure where spans are sent.
type Flags struct {
	// Endpoint is the URL of a collector. If it is empty, the OTEL_* variables apply.
	Endpoint string
}

func (f *Flags) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.Endpoint, "otlp-endpoint", "",
		"send traces to the collector at this `URL`, such as http://localhost:4317, by OTLP over gRPC "+
			"(https for TLS); "+
			"the OTEL_* variables of OpenTelemetry work too, OTEL_TRACES_SAMPLER among them (default: trace "+
			"every request)")
}

// LookupEnv looks up an environment variable.
type LookupEnv func(name string) (value string, ok bool)

// Start starts to send the spans of a program. If no collector is configured, it returns the zero
// Tracing. stop sends the remaining spans, takes at most flushTime and never fails.
func (f Flags) Start(
	ctx context.Context, program string, lookupEnv LookupEnv, log *slog.Logger,
) (tracing Tracing, stop func(context.Context) error, err error) {
	stop = func(context.Context) error { return nil }
	isSent, err := f.isOn(lookupEnv)
	if err != nil || !isSent {
		return Tracing{}, stop, err
	}
	var options []otlptracegrpc.Option
	if f.Endpoint != "" {
		options = append(options, otlptracegrpc.WithEndpointURL(f.Endpoint))
	}
	client, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return Tracing{}, stop, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "waybook-"+program)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return Tracing{}, stop, errors.Join(fmt.Errorf("traces: %w", err), client.Shutdown(ctx))
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(exporter{client, log}))
	return New(provider), func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, flushTime)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.WarnContext(ctx, "failed to send the last spans", "error", err)
		}
		return nil
	}, nil
}

// Check reports a configuration that cannot work.
func (f Flags) Check(lookupEnv LookupEnv) error {
	_, err := f.isOn(lookupEnv)
	return err
}

// isOn reports whether a collector is configured. It returns an error if the configuration
// cannot work.
func (f Flags) isOn(lookupEnv LookupEnv) (bool, error) {
	get := func(name string) string {
		value, _ := lookupEnv(name)
		return value
	}
	switch {
	case get("OTEL_SDK_DISABLED") == "true" || get("OTEL_TRACES_EXPORTER") == "none":
		return false, nil
	case f.Endpoint != "":
		parsed, err := url.Parse(f.Endpoint)
		if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" ||
			parsed.User != nil {
			return false, errors.New("-otlp-endpoint: want a URL without a password, such as http://localhost:4317 " +
				"or https://collector.example:4317")
		}
		return true, nil
	}
	protocol := cmp.Or(get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), get("OTEL_EXPORTER_OTLP_PROTOCOL"), "grpc")
	isOn := get("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	if isOn && protocol != "grpc" {
		return false, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, but traces are sent by grpc only; "+
			"set it to grpc, and the endpoint to the collector's gRPC port", protocol)
	}
	return isOn, nil
}

// exporter logs failures to send. By default they would go to OpenTelemetry's global error
// handler.
type exporter struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

// ExportSpans sends spans. It logs a failure and returns nil.
func (e exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.log.WarnContext(ctx, "failed to send spans", "spans", len(spans), "error", err)
	}
	return nil
}
