package process

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/platform/requestid"
)

// logFormat is the format of log lines. It is the value of a flag.
type logFormat string

// The formats: text for people, JSON for log collectors.
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
	return fmt.Errorf("want %s or %s", textFormat, jsonFormat)
}

// logFlags are the flags for the log.
type logFlags struct {
	format logFormat
	level  slog.Level
}

func (f *logFlags) register(flags *flag.FlagSet) {
	f.format = textFormat
	flags.Var(&f.format, "log-format", "`format` of the log on standard error, text or json")
	flags.TextVar(&f.level, "log-level", slog.LevelInfo, "lowest `level` to log: debug, info, warn or error")
}

// open returns a log that writes to out. Both formats quote all values, so no value can
// forge a line or a field.
func (f *logFlags) open(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.level}
	if f.format == jsonFormat {
		return slog.New(correlated{slog.NewJSONHandler(out, options)})
	}
	return slog.New(correlated{slog.NewTextHandler(out, options)})
}

// correlated adds the request id and the trace id of the context to each line.
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

// WithAttrs returns a handler that adds the attributes to each line.
func (c correlated) WithAttrs(attributes []slog.Attr) slog.Handler {
	return correlated{c.Handler.WithAttrs(attributes)}
}

// WithGroup returns a handler that puts later attributes into a group.
func (c correlated) WithGroup(name string) slog.Handler {
	return correlated{c.Handler.WithGroup(name)}
}
