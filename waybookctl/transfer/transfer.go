// Package transfer imports landmarks from files into PoiService and exports them.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/retry"
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

// DefaultMaxSpoolBytes is the default limit of input that is not a regular file.
const DefaultMaxSpoolBytes = 4 << 30

// Source is a file that can be read more than once, so that it can be checked before it is sent.
type Source struct {
	file *os.File
	size int64
	// temporary is the path of a copy to remove, or empty.
	temporary string
}

// Open opens a file. Input that can be read only once, such as stdin (the path "-") or a pipe, is
// first copied to a temporary file. The copy is limited to maxSpoolBytes.
func Open(ctx context.Context, path string, stdin io.Reader, maxSpoolBytes int64) (*Source, error) {
	if path == "-" {
		return Spool(ctx, stdin, maxSpoolBytes)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err == nil && info.Mode().IsRegular():
		return &Source{file: file, size: info.Size()}, nil
	case err == nil && info.IsDir():
		err = fmt.Errorf("%s is a directory; name a file in it", path)
	case err == nil:
		defer file.Close() // it was only read
		return Spool(ctx, file, maxSpoolBytes)
	}
	return nil, errors.Join(err, file.Close())
}

// Spool copies at most maxBytes of a reader to a temporary file, which Close removes. Longer input
// is an error.
func Spool(ctx context.Context, reader io.Reader, maxBytes int64) (*Source, error) {
	file, err := os.CreateTemp("", "waybook-import-")
	if err != nil {
		return nil, fmt.Errorf("can't create a temporary file to check the input first: %w", err)
	}
	source := &Source{file: file, temporary: file.Name()}
	// Where an open file can be removed, as on Unix, not even a crash leaves it behind.
	if os.Remove(file.Name()) == nil {
		source.temporary = ""
	}
	input := &progress.Reader{Context: ctx, From: reader, Reach: func(int64) {}}
	source.size, err = io.Copy(file, io.LimitReader(input, min(maxBytes, math.MaxInt64-1)+1)) // one more tells that it is longer
	if err == nil && source.size > maxBytes {
		err = fmt.Errorf("the input is longer than the limit of %d bytes; raise the limit, or save the input to a file and import that", maxBytes)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the input to a temporary file: %w", err), source.Close())
	}
	return source, nil
}

// Close closes the file and removes the temporary copy, if any.
func (s *Source) Close() error {
	err := s.file.Close()
	if s.temporary != "" {
		err = errors.Join(err, os.Remove(s.temporary))
	}
	return err
}

// Size returns the size in bytes.
func (s *Source) Size() int64 { return s.size }

// reader returns a reader from the beginning that reports how many bytes were read.
func (s *Source) reader(ctx context.Context, reach func(int64)) io.Reader {
	return &progress.Reader{Context: ctx, From: io.NewSectionReader(s.file, 0, s.size), Reach: reach}
}

// ExportOptions select the landmarks and the format of an export.
type ExportOptions struct {
	// OwnerID selects the owner of the landmarks; 0 means all owners. Two owners may use the same
	// key, so an export of all owners can be imported again only with identifiers.
	OwnerID int64
	// Category selects a category; 0 means all.
	Category landmarkfile.Category
	// Format is the format of the file. IDs says whether it has the identifiers of the landmarks and
	// their owners.
	Format landmarkfile.Format
	IDs    landmarkfile.IDs
	// Stdout gets the file whose path is "-".
	Stdout io.Writer
}

// Export writes landmarks in the order of their owners and keys and returns their number. If it fails, the file is
// incomplete.
func Export(
	ctx context.Context, client poiv1.PoiServiceClient, options ExportOptions, file io.Writer, report progress.Reporter,
) (count int64, err error) {
	writer := landmarkfile.NewWriter(file, options.Format, options.IDs)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream when writing fails
	stream, err := client.ExportPois(ctx, &poiv1.ExportPoisRequest{
		OwnerId: options.OwnerID, Category: poiv1.PoiCategory(options.Category), WithIds: options.IDs == landmarkfile.WithIDs,
	})
	if err != nil {
		return 0, retry.Explained(err)
	}
	report.Start("exporting", progress.Places, 0)
	defer report.Finish()
	for {
		batch, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return count, writer.Close()
		}
		if err != nil {
			return count, retry.Explained(err)
		}
		for _, p := range batch.GetPois() {
			if err := writer.Write(exported(p)); err != nil {
				return count, err
			}
			count++
		}
		report.Reach(count)
	}
}

// ExportFile exports to a file that appears, or replaces an existing one, only when complete and synced; to standard output if
// path is "-".
func ExportFile(
	ctx context.Context, client poiv1.PoiServiceClient, options ExportOptions, path string, report progress.Reporter,
) (count int64, err error) {
	err = atomicfile.WriteTo(options.Stdout, path, 0o666, func(file io.Writer) (err error) {
		count, err = Export(ctx, client, options, file, report)
		return err
	})
	return count, err
}

func exported(p *poiv1.ImportedPoi) landmarkfile.Place {
	return landmarkfile.Place{
		Key: p.GetKey(), Name: p.GetName(), Category: landmarkfile.Category(p.GetCategory()),
		Lat: p.GetLocation().GetLat(), Lng: p.GetLocation().GetLng(),
		OwnerID: p.GetOwnerId(), PoiID: p.GetPoiId(),
	}
}
