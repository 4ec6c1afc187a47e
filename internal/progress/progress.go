// Package progress reports the progress of long work to people.
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// Unit is the unit of progress.
type Unit int

// The units.
const (
	Places Unit = iota
	Documents
	Bytes
	Requests
	Records
)

// String returns the unit's name in the plural.
func (u Unit) String() string {
	return [...]string{Places: "places", Documents: "documents", Bytes: "bytes", Requests: "requests",
		Records: "records"}[u]
}

// Reporter receives progress, stage by stage. Only one goroutine may use it.
type Reporter interface {
	// Start begins a stage, named as in "importing". A total of 0 means unknown.
	Start(stage string, unit Unit, total int64)
	// Reach reports how much of the stage is done.
	Reach(done int64)
	// Note reports an event within a stage, such as the reason for a delay.
	Note(text string)
	// Finish ends the stage.
	Finish()
}

// New returns a reporter that writes lines. On a terminal, it draws the same line again and again.
func New(out io.Writer) Reporter {
	lines := NewLines(out, time.Now)
	if file, isFile := out.(*os.File); isFile && term.IsTerminal(int(file.Fd())) {
		lines.redraw()
	}
	return lines
}

// lineEvery and drawEvery are the shortest times between two lines of a file and of a terminal,
// apart from notes and ends of stages.
const (
	lineEvery = 5 * time.Second
	drawEvery = 100 * time.Millisecond
)

// clear removes the line of a terminal.
const clear = "\r\x1b[K"

// Lines writes a line at intervals: how much is done, how fast, and the estimated time left.
type Lines struct {
	out   io.Writer
	now   func() time.Time
	every time.Duration
	// before and after are written before each line, and after one that is drawn again.
	before, after string

	stage       string
	unit        Unit
	total, done int64
	began, last time.Time
}

// NewLines returns a reporter that writes lines. It reads the time from now.
func NewLines(out io.Writer, now func() time.Time) *Lines {
	return &Lines{out: out, now: now, every: lineEvery, after: "\n"}
}

// redraw makes the lines those of a terminal.
func (l *Lines) redraw() { l.every, l.before, l.after = drawEvery, clear, "" }

// Start begins a stage.
func (l *Lines) Start(stage string, unit Unit, total int64) {
	l.stage, l.unit, l.total, l.done = stage, unit, total, 0
	l.began = l.now()
	l.last = l.began
}

// Reach writes a line if the last one is old enough.
func (l *Lines) Reach(done int64) {
	l.done = done
	now := l.now()
	if now.Sub(l.last) < l.every {
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
	l.write(line, l.after)
}

// Note writes a line.
func (l *Lines) Note(text string) { l.write(l.stage+": "+text, "\n") }

// Finish writes how much was done, and how fast.
func (l *Lines) Finish() {
	elapsed := l.now().Sub(l.began)
	l.write(fmt.Sprintf("%s: %s in %v, %s", l.stage, l.unit.amount(l.done), elapsed.Round(10*time.Millisecond),
		l.unit.rate(l.done, elapsed)), "\n")
}

// write writes a line. Errors are ignored, because they must not end the work.
func (l *Lines) write(line, end string) { _, _ = io.WriteString(l.out, l.before+line+end) }

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

// Reader reads until its context ends, and reports how many bytes it has read.
type Reader struct {
	Context context.Context
	From    io.Reader
	Reach   func(bytes int64)

	bytes int64
}

func (r *Reader) Read(into []byte) (int, error) {
	if err := r.Context.Err(); err != nil {
		return 0, err
	}
	n, err := r.From.Read(into)
	r.bytes += int64(n)
	r.Reach(r.bytes)
	return n, err
}
