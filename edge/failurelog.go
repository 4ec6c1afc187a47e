package edge

import (
	"context"
	"log/slog"
	"sync/atomic"

	"golang.org/x/time/rate"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/internal/platform/attempts"
)

// warningsPerSecond is the most warnings about temporary failures in a second.
const warningsPerSecond = 10

// warnings bounds the warnings about temporary failures. It may be used concurrently.
type warnings struct {
	*rate.Limiter
	// leftOut counts the warnings that were not logged since the last one.
	leftOut atomic.Int64
}

func newWarnings() warnings {
	return warnings{Limiter: rate.NewLimiter(warningsPerSecond, warningsPerSecond)}
}

// log logs failures on the server side, with the call that failed. Of temporary failures that cut no reply short, a
// few lines a second are warnings, and the others are at debug level: a line per request would flood the log, and the
// metrics count them all.
func (h *handler) log(x *exchange, f *failure.Failure) {
	if f.Cause == nil {
		return
	}
	attributes := []slog.Attr{slog.String("func", x.function), slog.String("reason", f.Reason), slog.Bool("cut_short", x.response.started)}
	if call := attempts.In(f.Cause); call != nil {
		attributes = append(attributes, slog.Any("call", call))
	} else {
		attributes = append(attributes, slog.Any("error", f.Cause))
	}
	level := slog.LevelError
	switch {
	case f.RetryAfter == 0 || x.response.started:
	case f.Kind != failure.Unavailable:
		level = slog.LevelDebug
	case h.warnings.Allow():
		level = slog.LevelWarn
		if leftOut := h.warnings.leftOut.Swap(0); leftOut > 0 {
			attributes = append(attributes, slog.Int64("left_out", leftOut))
		}
	default:
		level = slog.LevelDebug
		h.warnings.leftOut.Add(1)
	}
	h.config.Log.LogAttrs(context.WithoutCancel(x.request.Context()), level, "request failed", attributes...)
}
