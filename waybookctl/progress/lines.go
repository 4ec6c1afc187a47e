package progress

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// lineEvery is the shortest time between two lines, apart from notes and ends of stages.
const lineEvery = 5 * time.Second

// Lines writes a line at intervals, for logs and pipes.
type Lines struct {
	out io.Writer
	now func() time.Time

	stage       string
	unit        Unit
	total, done int64
	began, last time.Time
}

// NewLines returns a reporter that writes lines. It reads the time from now.
func NewLines(out io.Writer, now func() time.Time) *Lines {
	return &Lines{out: out, now: now}
}

// Start begins a stage.
func (l *Lines) Start(stage string, unit Unit, total int64) {
	l.stage, l.unit, l.total, l.done = stage, unit, total, 0
	l.began = l.now()
	l.last = l.began
}

// Reach writes a line if the last one is at least lineEvery old.
func (l *Lines) Reach(done int64) {
	l.done = done
	now := l.now()
	if now.Sub(l.last) < lineEvery {
		return
	}
	l.last = now
	line := l.stage + ": " + l.unit.amount(done)
	if l.total > 0 {
		line += " of " + l.unit.amount(l.total)
	}
	elapsed := now.Sub(l.began)
	line += ", " + l.unit.rate(done, elapsed)
	if l.total > done && done > 0 {
		left := time.Duration(float64(elapsed) / float64(done) * float64(l.total-done))
		line += ", some " + left.Round(time.Second).String() + " left"
	}
	l.write(line)
}

// Note writes a line.
func (l *Lines) Note(text string) { l.write(l.stage + ": " + text) }

// Finish writes how much was done, and how fast.
func (l *Lines) Finish() {
	elapsed := l.now().Sub(l.began)
	l.write(fmt.Sprintf("%s: %s in %v, %s", l.stage, l.unit.amount(l.done), elapsed.Round(10*time.Millisecond), l.unit.rate(l.done, elapsed)))
}

// write writes a line. Errors are ignored, because they must not end the work.
func (l *Lines) write(line string) { _, _ = fmt.Fprintln(l.out, line) }

func (u Unit) amount(n int64) string {
	if u == Bytes {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return grouped(n) + " " + u.String()
}

func (u Unit) rate(n int64, elapsed time.Duration) string {
	perSecond := float64(n) / max(elapsed, time.Millisecond).Seconds()
	if u == Bytes {
		return fmt.Sprintf("%.1f MB/s", perSecond/1e6)
	}
	return grouped(int64(perSecond)) + "/s"
}

// grouped formats a non-negative number with a comma between groups of three digits.
func grouped(n int64) string {
	digits := fmt.Sprint(n)
	var text strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			text.WriteByte(',')
		}
		text.WriteRune(digit)
	}
	return text.String()
}
