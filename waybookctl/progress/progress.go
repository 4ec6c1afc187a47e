// Package progress tells people how far long work has come.
package progress

import (
	"os"
	"time"

	"golang.org/x/term"
)

// Unit is what is counted.
type Unit int

// The units.
const (
	Places Unit = iota
	Documents
	Bytes
)

// String is the unit's name in the plural.
func (u Unit) String() string {
	return [...]string{Places: "places", Documents: "documents", Bytes: "bytes"}[u]
}

// Reporter is told how far work has come, stage by stage. It is for one goroutine.
type Reporter interface {
	// Start begins a stage, named as in "importing"; a total of 0 is unknown.
	Start(stage string, unit Unit, total int64)
	// Reach says how much of the stage is done.
	Reach(done int64)
	// Note tells something in between, such as why it takes longer.
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

// None tells nothing.
type None struct{}

// Start tells nothing.
func (None) Start(string, Unit, int64) {}

// Reach tells nothing.
func (None) Reach(int64) {}

// Note tells nothing.
func (None) Note(string) {}

// Finish tells nothing.
func (None) Finish() {}
