package serve

import (
	"context"
	"log/slog"
	"time"

	"github.com/waybook/waybook/internal/platform/buildinfo"
)

// startLine collects the attributes of the log line of a started program.
type startLine struct{ attributes []slog.Attr }

// Announce adds an attribute to the log line of a started program, such as an address that
// a part listens on. Only Start and the functions it calls may use it.
func (e Env) Announce(attribute slog.Attr) {
	if e.start != nil { // nil without a program, as in a test of one part
		e.start.attributes = append(e.start.attributes, attribute)
	}
}

func (s *startLine) log(ctx context.Context, log *slog.Logger) {
	build := buildinfo.Read()
	attributes := []slog.Attr{slog.String("version", build.Version), slog.String("commit", build.Commit)}
	log.LogAttrs(ctx, slog.LevelInfo, "started", append(attributes, s.attributes...)...)
}

// logStop logs that a program has stopped, with the cause and the time since the stop
// began.
func logStop(ctx context.Context, log *slog.Logger, cause string, began time.Time) {
	log.LogAttrs(ctx, slog.LevelInfo, "stopped", slog.String("cause", cause),
		slog.Float64("duration_ms", float64(time.Since(began).Microseconds())/1000))
}
