// Package progress reports the progress of long work to people.
package progress

import (
	"os"
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
	return [...]string{Places: "places", Documents: "documents", Bytes: "bytes", Requests: "requests", Records: "records"}[u]
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

// New returns a bar for a terminal, and lines for everything else.
func New(file *os.File) Reporter {
	if term.IsTerminal(int(file.Fd())) {
		return NewBar(file)
	}
	return NewLines(file, time.Now)
}

// None reports nothing.
type None struct{}

// Start does nothing.
func (None) Start(string, Unit, int64) {}

// Reach does nothing.
func (None) Reach(int64) {}

// Note does nothing.
func (None) Note(string) {}

// Finish does nothing.
func (None) Finish() {}
