package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/requestid"
)

// forged would be a separate red line if it were written unquoted.
const forged = "x\nlevel=ERROR msg=\"forged\"\r\n\x1b[31m{\"level\":\"ERROR\"}"

// logged runs a program that logs a few lines, and returns its log.
func logged(t *testing.T, args ...string) string {
	t.Helper()
	end := run(ended(), args, nil, func(ctx context.Context, _ setting, env process.Env) error {
		ctx = trace.ContextWithSpanContext(requestid.With(ctx, "abc123"), trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{3},
		}))
		env.Log.DebugContext(ctx, "detail")
		env.Log.With("part", forged).InfoContext(ctx, forged, "title", forged, forged, 1)
		env.Log.WithGroup("g").Warn("no request", "title", forged)
		return nil
	})
	if end.status != 0 {
		t.Fatalf("status %d: %s", end.status, end.errors)
	}
	return withoutLifecycle(end.errors)
}

// withoutLifecycle removes the two lines that every program logs when it starts and stops.
func withoutLifecycle(log string) string {
	var rest strings.Builder
	for line := range strings.Lines(log) {
		if !isLifecycle.MatchString(line) {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

var isLifecycle = regexp.MustCompile(`^time=\S+ level=INFO msg=(started|stopped) |^\{"time":"[^"]+","level":"INFO","msg":"(started|stopped)",`)

func TestALogLineCarriesItsRequestAndTrace(t *testing.T) {
	text := strings.Split(logged(t), "\n")
	for _, part := range []string{"program=example", "request_id=abc123", "trace_id=01020000000000000000000000000000"} {
		if !strings.Contains(text[0], part) {
			t.Errorf("no %s in %s", part, text[0])
		}
	}
	if strings.Contains(text[1], "request_id") || strings.Contains(text[1], "trace_id") {
		t.Errorf("a line without a request has ids: %s", text[1])
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(strings.Split(logged(t, "-log-format", "json"), "\n")[0]), &line); err != nil {
		t.Fatal(err)
	}
	if line["request_id"] != "abc123" || line["trace_id"] != "01020000000000000000000000000000" || line["program"] != "example" || line["title"] != forged {
		t.Errorf("got %v", line)
	}
}

func TestAValueCannotForgeALogLine(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		got := logged(t, "-log-format", format)
		if strings.ContainsAny(got, "\x1b\r") {
			t.Errorf("%s: a control character gets through: %q", format, got)
		}
		if lines := strings.Count(got, "\n"); lines != 2 {
			t.Errorf("%s: %d lines: %s", format, lines, got)
		}
		for line := range strings.Lines(got) {
			if !strings.HasPrefix(line, "time=") && format == "text" || format == "json" && !json.Valid([]byte(line)) {
				t.Errorf("%s: a forged line: %s", format, line)
			}
		}
	}
}

func TestTheLevelFiltersLogLines(t *testing.T) {
	for level, lines := range map[string]int{"debug": 3, "info": 2, "WARN": 1, "error": 0} {
		if got := logged(t, "-log-level", level); strings.Count(got, "\n") != lines {
			t.Errorf("%s: %s", level, got)
		}
	}
}

func TestAnErrorThatEndsTheProgramCanBeJSON(t *testing.T) {
	end := run(t.Context(), []string{"-log-format=json"}, nil, func(context.Context, setting, process.Env) error { return errors.New("no luck") })
	var line map[string]any
	if err := json.Unmarshal([]byte(end.errors), &line); err != nil || line["error"] != "no luck" || end.status != 1 {
		t.Errorf("status %d, %v, %s", end.status, err, end.errors)
	}
}

func TestAnUnknownFormatOrLevelIsRejected(t *testing.T) {
	for _, args := range [][]string{{"-log-format", "xml"}, {"-log-level", "loud"}} {
		end := run(ended(), args, nil, func(context.Context, setting, process.Env) error {
			t.Error("the program started")
			return nil
		})
		if end.status != 78 || !strings.Contains(end.errors, args[0]) || !strings.Contains(end.errors, args[1]) {
			t.Errorf("status %d: %s", end.status, end.errors)
		}
	}
}
