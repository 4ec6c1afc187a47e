package send

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/waybook/waybook/moving/movefile"
)

// problemsName is the file with all problems in the folder of an intake.
const problemsName = "problems"

// finding is a line of the list of problems.
type finding struct {
	File  string      `json:"file"`
	Line  int64       `json:"line"`
	Kind  string      `json:"kind"`
	ID    movefile.ID `json:"id"`
	Field string      `json:"field"`
	Class string      `json:"class"`
	Value string      `json:"value"`
	Text  string      `json:"text"`
	// Done is what an import does.
	Done string `json:"done"`
}

// What an import does about a problem.
const (
	doneNothing   = "nothing was imported"
	doneLeftOut   = "left out as a whole"
	doneAlone     = "left out alone"
	doneReference = "left out the reference"
	doneReplaced  = "replaced characters by U+FFFD"
	doneDefault   = "replaced by a default, or left out"
	donePassword  = "left out the password"
	doneNewOwner  = "given to the new owner"
	doneKept      = "kept"
	doneDeleted   = "deleted"
)

// doneAbout returns what an import does about a fault.
func doneAbout(fault movefile.Fault) string {
	switch {
	case fault.Class == movefile.Incomplete:
		return doneNothing
	case !fault.IsAllowed:
		return doneLeftOut
	case fault.Allow == movefile.NewOwner:
		return doneNewOwner
	case fault.Allow == movefile.BadParts:
		return doneAlone
	case fault.Allow == movefile.OddValues, fault.Allow == movefile.BadTimes:
		return doneDefault
	case fault.Allow == movefile.OtherPasswords:
		return donePassword
	case fault.Class == movefile.Dangling && (fault.Field == "quoted_id" || fault.Field == "author_id"):
		return doneReference
	case fault.Class == movefile.Duplicate, fault.Class == movefile.Dangling:
		return doneAlone
	case fault.Class == movefile.Characters:
		return doneReplaced
	}
	return doneKept
}

// problemList is a file of findings. It is safe for concurrent use.
type problemList struct {
	mu   sync.Mutex
	path string
	file *os.File
	out  *bufio.Writer
}

// openList opens the list in a folder, for more.
func openList(folder string) (*problemList, error) {
	path := filepath.Join(folder, problemsName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &problemList{path: path, file: file, out: bufio.NewWriter(file)}, nil
}

func (l *problemList) add(f finding) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return write(l.out, f)
}

func write(out io.Writer, f finding) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(f)
}

// saveProblems saves the list of everything that is wrong, if Input says so, with what more adds, unless it is nil.
func (in *intake) saveProblems(more func(add func(finding) error) error) error {
	l := in.findings.list
	err := l.out.Flush()
	if save := in.input.SaveProblems; save != nil && err == nil {
		err = save(func(to io.Writer) error {
			if _, err := l.file.Seek(0, io.SeekStart); err != nil {
				return err
			}
			if _, err := io.Copy(to, l.file); err != nil {
				return err
			}
			if more == nil {
				return nil
			}
			return more(func(f finding) error { return write(to, f) })
		})
	}
	return errors.Join(err, l.file.Close())
}

// findingOf returns the line of what a service refused.
func (in *intake) findingOf(r Refusal) finding {
	return finding{
		File: in.input.Files[r.At.File], Line: r.At.Line, Kind: string(r.Root.Kind), ID: r.Root.ID,
		Field: r.Field, Class: r.Reason, Text: r.Message, Done: r.done(),
	}
}

// done returns what an import does about what a service refused.
func (r Refusal) done() string {
	list, _, _ := strings.Cut(r.Field, "[")
	if _, isChild := kindsOfLists[list]; isChild && r.Reason != "INVALID_PARAMETER" {
		return doneAlone
	}
	return doneLeftOut
}
