package shadow

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/moving/comparison"
)

const (
	// linesPerSecond and lineBurst bound the log lines: ten at once, then one a second.
	linesPerSecond = 1
	lineBurst      = 10 * time.Second
	// maxPaths is the most differences in a line.
	maxPaths = 5
	// maxValue is the most bytes of a parameter in a line.
	maxValue = 32
)

// reporter logs differences. A line names what was read, so that an operator can read it again, and
// where the replies differ. It has no text of a reply, no cookie and no client.
type reporter struct {
	log        *slog.Logger
	rate       *admission.Rate
	suppressed atomic.Int64
	// subjects are the required parameters of the reads, by func.
	subjects map[string][]string
}

func newReporter(log *slog.Logger) *reporter {
	r := &reporter{log: log, rate: admission.NewRate(linesPerSecond, lineBurst, time.Now), subjects: map[string][]string{}}
	for _, each := range edge.Operations() {
		if each.IsAddition || each.Effect != operation.Reads {
			continue
		}
		for _, parameter := range each.Parameters {
			if parameter.IsRequired {
				r.subjects[each.Func] = append(r.subjects[each.Func], parameter.Name)
			}
		}
	}
	return r
}

// report logs a comparison that found a difference, or failed.
func (r *reporter) report(ctx context.Context, requestID string, asked edge.Asked, verdict comparison.Verdict, err error) {
	if err == nil && verdict.Outcome != comparison.Different {
		return
	}
	if r.rate.Take("") > 0 {
		r.suppressed.Add(1)
		return
	}
	attributes := []slog.Attr{
		slog.String("log", "shadow"), slog.String("func", asked.Function), slog.String("subject", r.subject(asked)),
		slog.String("request_id", requestID), slog.Int64("suppressed", r.suppressed.Swap(0)),
	}
	if err != nil {
		r.log.LogAttrs(ctx, slog.LevelWarn, "replies not compared", append(attributes, slog.Any("error", err))...)
		return
	}
	var places []string
	for _, each := range verdict.Differences[:min(maxPaths, len(verdict.Differences))] {
		places = append(places, each.Path+": "+each.What)
	}
	r.log.LogAttrs(ctx, slog.LevelWarn, "replies differ", append(attributes,
		slog.Int("differences", verdict.Count), slog.String("places", strings.Join(places, "; ")))...)
}

// subject returns the parameters that say what is read, such as albumID=12.
func (r *reporter) subject(asked edge.Asked) string {
	parameters, err := url.ParseQuery(asked.Query + "&" + asked.Body)
	if err != nil {
		return ""
	}
	var subject []string
	for _, name := range r.subjects[asked.Function] {
		if value := parameters.Get(name); len(value) <= maxValue {
			subject = append(subject, name+"="+value)
		}
	}
	return strings.Join(subject, " ")
}
