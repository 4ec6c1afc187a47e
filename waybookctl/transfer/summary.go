package transfer

import (
	"fmt"
	"strings"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
)

// ImportSummary is the result of an import, including one that failed.
type ImportSummary struct {
	// Checked is the result of the check; it is nil if the file could not be read.
	Checked *landmarkfile.Checked
	// Created, Updated, Unchanged and Failed count the places that the service acknowledged. After a
	// retry, Unchanged includes places that an earlier try created or updated.
	Created, Updated, Unchanged, Failed int64
	// Pruned counts the landmarks that were deleted. Kept counts the owner's landmarks that the file
	// does not have and that were not imported; they are never pruned.
	Pruned, Kept int64
	// IsPruned reports that the import pruned. IsDryRun reports that nothing was changed.
	IsPruned, IsDryRun bool
	// Repeated counts the retries of calls.
	Repeated int64
	// Failures are the first places that the service refused.
	Failures []Failure
}

// Failure says why the service refused a place.
type Failure struct {
	At landmarkfile.Position
	// Key is the place's key; Reason and Message come from the service.
	Key, Reason, Message string
}

// String formats the failure for people.
func (f Failure) String() string {
	return fmt.Sprintf("%s: the key %q was refused: %s (%s)", f.At, f.Key, f.Message, f.Reason)
}

// Acknowledged returns how many places the service has answered.
func (s *ImportSummary) Acknowledged() int64 { return s.Created + s.Updated + s.Unchanged + s.Failed }

// String formats the summary as one line.
func (s *ImportSummary) String() string {
	text := fmt.Sprintf("%d created, %d updated, %d unchanged, %d refused", s.Created, s.Updated, s.Unchanged, s.Failed)
	if s.IsPruned {
		text += fmt.Sprintf(", %d pruned", s.Pruned)
	}
	if s.Kept > 0 {
		text += fmt.Sprintf("; %d not in the file were not imported and are kept", s.Kept)
	}
	if s.Checked != nil && s.Checked.Duplicates > 0 {
		text += fmt.Sprintf("; %d repeated in the file", s.Checked.Duplicates)
	}
	if s.Checked != nil && s.Checked.ProblemCount > 0 {
		text += fmt.Sprintf("; %d invalid", s.Checked.ProblemCount)
	}
	if s.Repeated > 0 {
		text += fmt.Sprintf("; %d calls retried (places created by an earlier try count as unchanged)", s.Repeated)
	}
	if s.IsDryRun {
		return "dry run, nothing was changed: " + text
	}
	return text
}

// InvalidFileError reports that the file has problems and nothing was imported.
type InvalidFileError struct {
	Checked *landmarkfile.Checked
}

// Lines returns the problems, and how many more there are.
func (e *InvalidFileError) Lines() (lines []string) {
	for _, problem := range e.Checked.Problems {
		lines = append(lines, problem.Error())
	}
	if more := e.Checked.ProblemCount - int64(len(e.Checked.Problems)); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", more))
	}
	return lines
}

// Error returns the lines.
func (e *InvalidFileError) Error() string {
	return strings.Join(append(e.Lines(), "nothing was imported"), "\n")
}

// add adds the reply to a call, and keeps at most maxFailures failures.
func (s *ImportSummary) add(call []landmarkfile.Place, reply *poiv1.ImportPoisResponse, maxFailures int) {
	s.Created += reply.GetCreatedCount()
	s.Updated += reply.GetUpdatedCount()
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
