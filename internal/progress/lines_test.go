package progress

import (
	"strings"
	"testing"
	"time"
)

func TestLinesReportProgressAtIntervals(t *testing.T) {
	var out strings.Builder
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	lines := NewLines(&out, func() time.Time { return now })
	lines.Start("checking", Bytes, 17_100_000)
	now = now.Add(1500 * time.Millisecond)
	lines.Reach(17_100_000)
	lines.Finish()
	lines.Start("importing", Places, 171_075)
	for range 14 {
		now = now.Add(time.Second)
		lines.Reach(lines.done + 12_000)
	}
	lines.Note("the service is away")
	now = now.Add(time.Minute)
	lines.Reach(171_075)
	lines.Finish()
	lines.Start("exporting", Places, 0)
	now = now.Add(5 * time.Second)
	lines.Reach(999)
	lines.Finish()
	want := `checking: 17.1 MB in 1.5s, 11.4 MB/s
importing: 60,000 places of 171,075 places, 12,000/s, some 9s left
importing: 120,000 places of 171,075 places, 12,000/s, some 4s left
importing: the service is away
importing: 171,075 places of 171,075 places, 2,311/s
importing: 171,075 places in 1m14s, 2,311/s
exporting: 999 places, 199/s
exporting: 999 places in 5s, 199/s
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

func TestAnEmptyStageDoesNotDivideByZero(t *testing.T) {
	var out strings.Builder
	now := func() time.Time { return time.Time{} }
	lines := NewLines(&out, now)
	lines.Start("importing", Places, 0)
	lines.Finish()
	if out.String() != "importing: 0 places in 0s, 0/s\n" {
		t.Errorf("got %q", out.String())
	}
}

func TestATerminalHasOneLineThatLeavesNotesReadable(t *testing.T) {
	var out strings.Builder
	now := time.Time{}
	lines := NewLines(&out, func() time.Time { now = now.Add(drawEvery); return now })
	lines.redraw()
	lines.Start("importing", Places, 2000)
	lines.Reach(1000)
	lines.Note("the service is away")
	lines.Reach(2000)
	lines.Finish()
	want := clear + "importing: 1,000 places of 2,000 places, 10,000/s, some 0s left" + clear + "importing: the service is away\n" +
		clear + "importing: 2,000 places of 2,000 places, 10,000/s" + clear + "importing: 2,000 places in 300ms, 6,666/s\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
