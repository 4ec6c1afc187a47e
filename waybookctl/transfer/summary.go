package transfer

import (
	"fmt"
	"strings"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
)

// ImportSummary is what became of an import, also of one that failed.
type ImportSummary struct {
	// Checked is what the file holds; nil when it could not be read.
	Checked *landmarkfile.Checked
	// Created, Unchanged and Failed count what the service has acknowledged. When
	// calls had to be repeated, Unchanged has what the first tries had created.
	Created, Unchanged, Failed int64
	// Repeated is how many times a call was repeated.
	Repeated int64
	// Failures are the first places that the service refused.
	Failures []Failure
}

// Failure is why the service refused a place.
type Failure struct {
	At landmarkfile.Position
	// Key is the place's key; Reason and Message are those of the service.
	Key, Reason, Message string
}

// String is the failure for people.
func (f Failure) String() string {
	return fmt.Sprintf("%s: the key %q was refused: %s (%s)", f.At, f.Key, f.Message, f.Reason)
}

// Acknowledged is how many places the service has dealt with.
func (s *ImportSummary) Acknowledged() int64 { return s.Created + s.Unchanged + s.Failed }

// String is the summary in one line.
func (s *ImportSummary) String() string {
	text := fmt.Sprintf("%d created, %d unchanged, %d refused", s.Created, s.Unchanged, s.Failed)
	if s.Checked != nil && s.Checked.Duplicates > 0 {
		text += fmt.Sprintf("; %d stood in the file more than once", s.Checked.Duplicates)
	}
	if s.Checked != nil && s.Checked.ProblemCount > 0 {
		text += fmt.Sprintf("; %d not valid", s.Checked.ProblemCount)
	}
	if s.Repeated > 0 {
		text += fmt.Sprintf("; %d calls repeated (what a first try created counts as unchanged)", s.Repeated)
	}
	return text
}

// InvalidFileError says that nothing was imported since the file has problems.
type InvalidFileError struct {
	Checked *landmarkfile.Checked
}

// Error lists the problems, each on a line of its own.
func (e *InvalidFileError) Error() string {
	var text strings.Builder
	for _, problem := range e.Checked.Problems {
		fmt.Fprintln(&text, problem)
	}
	if more := e.Checked.ProblemCount - int64(len(e.Checked.Problems)); more > 0 {
		fmt.Fprintf(&text, "and %d more problems\n", more)
	}
	text.WriteString("nothing was imported")
	if e.Checked.Broken == nil {
		text.WriteString("; correct these records, or choose to skip them")
	}
	return text.String()
}

// add adds what became of a call, and keeps at most maxFailures failures.
func (s *ImportSummary) add(call []landmarkfile.Place, reply *poiv1.ImportPoisResponse, maxFailures int) {
	s.Created += reply.GetCreatedCount()
	s.Unchanged += reply.GetUnchangedCount()
	s.Failed += reply.GetFailedCount()
	for _, failure := range reply.GetFailures() {
		index := failure.GetIndex()
		if len(s.Failures) == maxFailures || index < 0 || index >= int64(len(call)) {
			return
		}
		s.Failures = append(s.Failures, Failure{
			At: call[index].At, Key: call[index].Key, Reason: failure.GetReason(), Message: failure.GetMessage(),
		})
	}
}
