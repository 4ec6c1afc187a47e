package importer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// Problem is something wrong with a record of the files, or with what is stored of it.
type Problem struct {
	place
	ID string `json:"id"`
	format.Fault
}

// place is where a record is in the files.
type place struct {
	File string      `json:"file"`
	Line int64       `json:"line"`
	Kind format.Kind `json:"kind"`
}

// Report says what the files hold, what is wrong with it, and what became of it.
type Report struct {
	// Counts are the numbers of records of each kind, of the files of photos, and of lines that
	// are unreadable.
	Counts map[string]Counts `json:"counts"`
	// Problems are what was not mended, by class, and Repairs what was, by rule.
	Problems map[string]*Group `json:"problems"`
	Repairs  map[string]*Group `json:"repairs"`

	encoder *json.Encoder
	// isVerification says that the records were compared with what is stored, and nothing else.
	isVerification bool
}

// Counts are numbers of records, by one of Columns.
type Counts map[string]int64

// Columns are what is counted of a kind. The last ones are also classes of problems.
func Columns() []string {
	return []string{"read", "left_out", "inserted", "unchanged", absent, "different", "deleted", "refused"}
}

// absent is the outcome of a record that a verification would insert.
const absent = "absent"

// Group are the problems of a class, or those that a rule mended.
type Group struct {
	Count int64     `json:"count"`
	First []Problem `json:"first"`
}

// maxExamples is how many problems of a group a report keeps.
const maxExamples = 3

func newReport(out io.Writer) *Report {
	r := &Report{Counts: map[string]Counts{}, Problems: map[string]*Group{}, Repairs: map[string]*Group{}}
	r.encoder = json.NewEncoder(out)
	r.encoder.SetEscapeHTML(false)
	return r
}

func (r *Report) of(kind format.Kind) Counts {
	name := cmp.Or(string(kind), string(format.Unreadable))
	if r.Counts[name] == nil {
		r.Counts[name] = Counts{}
		for _, column := range Columns() {
			r.Counts[name][column] = 0
		}
	}
	return r.Counts[name]
}

// count counts a line that was read.
func (r *Report) count(l *line) {
	counts := r.of(l.Kind)
	counts["read"]++
	if !l.isKept() {
		counts["left_out"]++
	}
}

// add adds a problem, with a record if there is one.
func (r *Report) add(at place, record *moveinv1.Record, fault format.Fault) error {
	p := Problem{at, format.SubjectOf(record).ID, fault}
	groups, name := r.Problems, string(p.Class)
	if p.Repair != "" {
		groups, name = r.Repairs, string(p.Repair)
	}
	if groups[name] == nil {
		groups[name] = &Group{}
	}
	group := groups[name]
	if group.Count++; group.Count <= maxExamples {
		group.First = append(group.First, p)
	}
	return r.encoder.Encode(p)
}

// Kinds returns the kinds that the files have, in order.
func (r *Report) Kinds() (found []string) {
	for _, kind := range append(format.Kinds(), fileKind, format.Kind(format.Unreadable)) {
		if r.Counts[string(kind)] != nil {
			found = append(found, string(kind))
		}
	}
	return found
}

// incomplete files have other numbers of records than their end records say, or no end record.
const incomplete = "incomplete"

// Unmended returns the number of problems that were not mended, apart from those of incomplete
// files. Of a verification, these are the records that are not stored as the files have them.
func (r *Report) Unmended() (count int64) {
	outcomes := Columns()[4:]
	for class, group := range r.Problems {
		if class != incomplete && (!r.isVerification || slices.Contains(outcomes, class)) {
			count += group.Count
		}
	}
	return count
}

// compare compares the numbers of records with those of the end records, of which the last is at a
// place.
func (r *Report) compare(end place, expected map[format.Kind]int64) (wrong error) {
	fault := format.Fault{Class: incomplete, Text: "the files have no end record, so they may be incomplete"}
	if end.Kind == "" {
		end.Kind = format.KindEnd
		return cmp.Or(r.add(end, nil, fault), ErrIncomplete)
	}
	for _, kind := range format.Kinds() {
		if read, want := r.Counts[string(kind)]["read"], expected[kind]; read != want {
			fault.Field, fault.Value = string(kind), fmt.Sprint(want)
			fault.Text = fmt.Sprintf("the files have %d records of this kind, and should have %d", read, want)
			if err := r.add(end, nil, fault); err != nil {
				return err
			}
			wrong = ErrIncomplete
		}
	}
	return wrong
}
