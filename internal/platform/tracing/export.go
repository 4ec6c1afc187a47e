package tracing

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// flushTime bounds how long a stopping program takes to send the last spans. Like the drain
// times of the ports, it is part of the total shutdown time.
const flushTime = 2 * time.Second

// Flags configure where spans are sent.
type Flags struct {
	// Endpoint is the URL of a collector. If it is empty, the OTEL_* variables apply.
	Endpoint string
	// Slow is how long a request must take for its spans to be kept in memory; 0 keeps none.
	Slow time.Duration
}

// Register declares the flags.
func (f *Flags) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.Endpoint, "otlp-endpoint", "",
		"send traces to the collector at this `URL`, such as http://localhost:4317, by OTLP over gRPC (https for TLS); "+
			"the OTEL_* variables of OpenTelemetry work too, OTEL_TRACES_SAMPLER among them (default: trace every request)")
	flags.DurationVar(&f.Slow, "slow-requests", 0,
		fmt.Sprintf("keep what each of the last %d requests did that took this `duration` or longer, for waybookctl trace; 0 keeps none", maxSlowRequests))
}

// LookupEnv looks up an environment variable.
type LookupEnv func(name string) (value string, ok bool)

// Start starts to send the spans of a program, and to keep those of slow requests. If neither
// is configured, it returns the zero Tracing. stop sends the remaining spans, takes at most
// flushTime and never fails.
func (f Flags) Start(ctx context.Context, program string, lookupEnv LookupEnv, log *slog.Logger) (tracing Tracing, stop func(context.Context) error, err error) {
	stop = func(context.Context) error { return nil }
	isSent, err := f.isOn(lookupEnv)
	if err != nil {
		return Tracing{}, stop, err
	}
	var slow *Slow
	var options []sdktrace.TracerProviderOption
	if f.Slow > 0 {
		slow = NewSlow(program, f.Slow)
		options = append(options, sdktrace.WithSpanProcessor(slow))
	}
	if !isSent {
		if slow != nil {
			tracing = New(sdktrace.NewTracerProvider(options...))
			tracing.slow = slow
		}
		return tracing, stop, nil
	}
	provider, err := f.sending(ctx, program, log, options)
	if err != nil {
		return Tracing{}, stop, err
	}
	tracing = New(provider)
	tracing.slow = slow
	return tracing, func(ctx context.Context) error {
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

// sending returns a provider that sends spans to a collector.
func (f Flags) sending(ctx context.Context, program string, log *slog.Logger, more []sdktrace.TracerProviderOption) (*sdktrace.TracerProvider, error) {
	var options []otlptracegrpc.Option
	if f.Endpoint != "" {
		options = append(options, otlptracegrpc.WithEndpointURL(f.Endpoint))
	}
	client, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "waybook-"+program)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("traces: %w", err), client.Shutdown(ctx))
	}
	return sdktrace.NewTracerProvider(append(more, sdktrace.WithResource(about), sdktrace.WithBatcher(exporter{client, log}))...), nil
}

// isOn reports whether a collector is configured. It returns an error if the configuration
// cannot work.
func (f Flags) isOn(lookupEnv LookupEnv) (bool, error) {
	if f.Slow < 0 {
		return false, errors.New("-slow-requests: must not be negative")
	}
	get := func(name string) string {
		value, _ := lookupEnv(name)
		return value
	}
	if get("OTEL_SDK_DISABLED") == "true" || get("OTEL_TRACES_EXPORTER") == "none" {
		return false, nil
	}
	if f.Endpoint != "" {
		parsed, err := url.Parse(f.Endpoint)
		if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" || parsed.User != nil {
			return false, errors.New("-otlp-endpoint: want a URL without a password, such as http://localhost:4317 or https://collector.example:4317")
		}
		return true, nil
	}
	if get("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "" {
		return false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := get(name); protocol != "" {
			if protocol != "grpc" {
				return false, fmt.Errorf("%s is %q, but traces are sent by grpc only; set it to grpc, and the endpoint to the collector's gRPC port",
					name, protocol)
			}
			break
		}
	}
	return true, nil
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
