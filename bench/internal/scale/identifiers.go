package scale

import (
	"fmt"
	"time"

	"github.com/waybook/waybook/bench/internal/report"
)

// tick is what an identifier of PlaceBits counts: internal/id.
const tick = 16 * time.Millisecond

// Identifiers shows how identifiers are drawn in one place.
func Identifiers(seed uint64) Section {
	table := report.Table{
		Title: "Ten minutes of creates in one place; the first process restarts after eight",
		Rows:  [][]string{{"creates/s", "processes", "after a refusal", "failed", "inserts per create", "ahead in the end", "listed too early", "by up to"}},
	}
	for _, at := range []struct {
		rate    float64
		sources int
	}{{20, 16}, {100, 4}, {500, 16}} {
		for policy := NextTick; policy <= ReadHighest; policy++ {
			d := Draws{Tick: tick, Sources: at.sources, Rate: at.rate, For: 10 * time.Minute, Restart: 8 * time.Minute, Policy: policy, Seed: seed}
			result := d.Run()
			table.Add(fmt.Sprint(at.rate), fmt.Sprint(at.sources), policy.String(), percent(result.Failed), fmt.Sprintf("%.2f", result.Inserts),
				span(result.Ahead), percent(result.Misplaced), span(result.Behind))
		}
	}
	return Section{Tables: []report.Table{table}}
}

// span formats a duration with two or three digits.
func span(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d == 0:
		return "0"
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
