package serve

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/platform/requestid"
)

// logFormat is how a line of the log is written. It is a flag's value.
type logFormat string

// The formats: for people, and for what collects logs.
const (
	textFormat logFormat = "text"
	jsonFormat logFormat = "json"
)

func (f *logFormat) String() string { return string(*f) }

func (f *logFormat) Set(value string) error {
	switch format := logFormat(value); format {
	case textFormat, jsonFormat:
		*f = format
		return nil
	}
	return fmt.Errorf("it is %s or %s", textFormat, jsonFormat)
}

// logFlags say how a program logs.
type logFlags struct {
	format logFormat
	level  slog.Level
}

func (f *logFlags) register(flags *flag.FlagSet) {
	f.format = textFormat
	flags.Var(&f.format, "log-format", "`format` of the log on standard error, text or json")
	flags.TextVar(&f.level, "log-level", slog.LevelInfo, "log from this `level` on: debug, info, warn or error")
}

// open returns a log on out. Both formats quote what they are given, so that no value
// can pass for a line or a field of its own.
func (f *logFlags) open(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.level}
	if f.format == jsonFormat {
		return slog.New(correlated{slog.NewJSONHandler(out, options)})
	}
	return slog.New(correlated{slog.NewTextHandler(out, options)})
}

// correlated adds to each line the request and the trace that its context is of.
type correlated struct{ slog.Handler }

// Handle writes a line.
func (c correlated) Handle(ctx context.Context, record slog.Record) error {
	if id := requestid.From(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}
	return c.Handler.Handle(ctx, record)
}

// WithAttrs returns a handler that adds the attributes given to each line.
func (c correlated) WithAttrs(attributes []slog.Attr) slog.Handler {
	return correlated{c.Handler.WithAttrs(attributes)}
}

// WithGroup returns a handler that puts what follows into a group.
func (c correlated) WithGroup(name string) slog.Handler {
	return correlated{c.Handler.WithGroup(name)}
}
