package send

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/waybook/waybook/moving/movefile"
)

// Report says what the files hold, and what is wrong with it.
type Report struct {
	// Files are the names of the files.
	Files []string `json:"files"`
	// Lines counts the lines with a record, Records those of each kind.
	Lines   int64                    `json:"lines"`
	Records map[movefile.Kind]int64  `json:"records"`
	Groups  map[string]*ProblemGroup `json:"groups"`
}

// ProblemGroup are the problems of one class in one field of one kind.
type ProblemGroup struct {
	Kind  movefile.Kind      `json:"kind"`
	Class movefile.Class     `json:"class"`
	Field string             `json:"field"`
	Allow movefile.Allowance `json:"allow"`
	// IsAllowed says that the problems are allowed.
	IsAllowed bool  `json:"is_allowed"`
	Count     int64 `json:"count"`
	// First are the first problems, in the order of the files.
	First []Problem `json:"first"`
}

// Problem is what is wrong with one record.
type Problem struct {
	At    movefile.Position `json:"at"`
	Kind  movefile.Kind     `json:"kind"`
	Fault movefile.Fault    `json:"fault"`
}

// maxExamples is how many problems of a group a report keeps.
const maxExamples = 5

// Problems returns the number of problems that are not allowed.
func (r *Report) Problems() (count int64) {
	for _, group := range r.Groups {
		if !group.IsAllowed {
			count += group.Count
		}
	}
	return count
}

// HasEnd reports whether the files have an end record.
func (r *Report) HasEnd() bool { return r.Records[movefile.KindEnd] > 0 }

// Sorted returns the groups: those that are not allowed first, each by kind, field and class.
func (r *Report) Sorted() []*ProblemGroup {
	groups := slices.Collect(maps.Values(r.Groups))
	slices.SortFunc(groups, func(a, b *ProblemGroup) int {
		if a.IsAllowed != b.IsAllowed {
			return map[bool]int{true: 1, false: -1}[a.IsAllowed]
		}
		return strings.Compare(a.key(), b.key())
	})
	return groups
}

func (g *ProblemGroup) key() string {
	return fmt.Sprintf("%s %s %s %s %v", g.Kind, g.Field, g.Class, g.Allow, g.IsAllowed)
}

// Place formats a position.
func (r *Report) Place(at movefile.Position) string {
	return fmt.Sprintf("%s:%d", r.Files[at.File], at.Line)
}

// Text formats a problem for people.
func (r *Report) Text(p Problem) string {
	text := r.Place(p.At) + ": "
	if p.Kind != "" {
		text += string(p.Kind) + ": "
	}
	text += p.Fault.String()
	if p.Fault.Class == movefile.Duplicate {
		text += ", in " + r.Place(p.Fault.First)
	}
	return text
}

// maxMarks bounds the records that are left out, and with them the memory: about 100 bytes for each.
const maxMarks = 1_000_000

// mark says what becomes of a record with a problem. It is a set.
type mark int

const (
	// refused: the record is left out with its root.
	refused mark = 1 << iota
	// dropped: the record alone is left out, as was allowed.
	dropped
	// unquoted: the entry is stored without its quote, as was allowed.
	unquoted
	// orphaned: the owner is not in the files, and Input.NewOwner is the owner, as was allowed.
	orphaned
)

// findings collects problems. It is safe for concurrent use.
type findings struct {
	mu     sync.Mutex
	report Report
	marks  map[movefile.Position]mark
	// expected are the numbers of the end records, of which end is the last.
	expected map[movefile.Kind]int64
	end      movefile.Position
	// file and out have all problems.
	file *os.File
	out  *bufio.Writer
}

// newFindings opens the list of problems in the folder of an input, for more.
func newFindings(input Input) (*findings, error) {
	file, err := os.OpenFile(filepath.Join(input.Folder, problemsName), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	return &findings{
		file: file, out: bufio.NewWriter(file),
		report: Report{Files: input.Files, Records: map[movefile.Kind]int64{}, Groups: map[string]*ProblemGroup{}},
		marks:  map[movefile.Position]mark{}, expected: map[movefile.Kind]int64{},
	}, err
}

// list adds a line to the list of problems.
func (f *findings) list(line finding) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return write(f.out, line)
}

// count counts a record, which is nil if the line could not be read.
func (f *findings) count(record movefile.Record, at movefile.Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report.Lines++
	if record == nil {
		return
	}
	f.report.Records[record.Kind()]++
	if end, isEnd := record.(*movefile.End); isEnd {
		for kind, count := range end.Counts() {
			f.expected[kind] += count
		}
		if f.end.Before(at) {
			f.end = at
		}
	}
}

// add adds a problem of a record.
func (f *findings) add(kind movefile.Kind, id movefile.ID, at movefile.Position, fault movefile.Fault) error {
	if err := f.list(finding{
		File: f.report.Files[at.File], Line: at.Line, Kind: string(kind), ID: id, Field: fault.Field, Class: string(fault.Class),
		Value: fault.Value, Text: fault.Text, Done: doneAbout(fault),
	}); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	group := &ProblemGroup{Kind: kind, Class: fault.Class, Field: unnumbered(fault.Field), Allow: fault.Allow, IsAllowed: fault.IsAllowed}
	if found := f.report.Groups[group.key()]; found != nil {
		group = found
	} else {
		f.report.Groups[group.key()] = group
	}
	group.Count++
	group.First = append(group.First, Problem{at, kind, fault})
	slices.SortFunc(group.First, func(a, b Problem) int { return order(a.At, b.At) })
	group.First = group.First[:min(len(group.First), maxExamples)]
	switch {
	case !fault.IsAllowed:
		f.marks[at] |= refused
	case fault.Allow == movefile.NewOwner:
		f.marks[at] |= orphaned
	case doneAbout(fault) == doneAlone &&
		(fault.Class != movefile.Dangling || fault.Allow == movefile.BadParts || fault.Field == "choice" || fault.Field == "user_id"):
		f.marks[at] |= dropped // those without a parent are in no family
	case fault.Class == movefile.Dangling && kind == movefile.KindEntry:
		f.marks[at] |= unquoted
	}
	if len(f.marks) > maxMarks {
		return fmt.Errorf("more than %d records have problems; the first: %s", maxMarks, f.report.Text(group.First[0]))
	}
	return nil
}

// unnumbered removes positions from the path of a field: choices[2].description.
func unnumbered(field string) string {
	for {
		open := strings.IndexByte(field, '[')
		end := strings.IndexByte(field, ']')
		if open < 0 || end < open {
			return field
		}
		field = field[:open] + field[end+1:]
	}
}

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

func write(out io.Writer, f finding) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(f)
}

// saveProblems saves the list of everything that is wrong, if Input says so, with what more adds, unless it is nil.
func (in *intake) saveProblems(more func(add func(finding) error) error) error {
	l := in.findings
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
	if r.Reason == reasonNotRemoved {
		return doneKept
	}
	if _, isChild := kindsOfLists[list]; isChild && r.Reason != "INVALID_PARAMETER" {
		return doneAlone
	}
	return doneLeftOut
}
