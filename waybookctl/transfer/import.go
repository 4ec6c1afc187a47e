// Package transfer imports landmarks from files into PoiService and exports them.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/platform/retry"
	"github.com/waybook/waybook/internal/progress"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/waybookctl/landmarkfile"
)

const (
	// maxPlaces bounds the places of a file, and with them the memory: about 60 MB for their keys.
	maxPlaces = 1_000_000
	// maxProblems is how many problems and refused places are reported; all are counted.
	maxProblems = 20
	// callPlaces is how many places a call sends. A slow store takes 10 ms for a place that was
	// imported before, and a service ends a call after 10 s.
	callPlaces = 500
)

// ImportOptions describe the file and the landmarks of an import.
type ImportOptions struct {
	// OwnerID is the user who will own the landmarks.
	OwnerID int64
	// File describes the file.
	File landmarkfile.Options
	// SkipInvalid skips records that can't be imported and imports the others.
	SkipInvalid bool
	// Update gives landmarks that exist with other content that of the file. Otherwise the service
	// refuses such places.
	Update bool
	// DryRun changes nothing. The summary counts what would be done.
	DryRun bool
	// Wait waits before a retry; nil means that it sleeps.
	Wait func(context.Context, time.Duration) error
}

// ImportSummary is the result of an import, including one that failed.
type ImportSummary struct {
	// Places counts the places to import. Repeated counts the places without a key that equal an
	// earlier one, which are imported once. Invalid counts the records that can't be imported.
	Places, Repeated, Invalid int64
	// Created, Updated, Unchanged and Refused count the places that the service acknowledged.
	// After a retry, Unchanged includes places that an earlier try created or updated.
	Created, Updated, Unchanged, Refused int64
	// Problems are the first reasons why a record is invalid or refused, with its line.
	Problems []string
}

// Acknowledged returns how many places the service has answered.
func (s *ImportSummary) Acknowledged() int64 { return s.Created + s.Updated + s.Unchanged + s.Refused }

func (s *ImportSummary) problem(text string) {
	if len(s.Problems) < maxProblems {
		s.Problems = append(s.Problems, text)
	}
}

// InvalidFileError reports that the file has problems and nothing was imported.
type InvalidFileError struct {
	// Problems are the first problems.
	Problems []string
	// IsSkippable reports that the file could be imported without them.
	IsSkippable bool
}

func (e *InvalidFileError) Error() string {
	return "nothing was imported: " + strings.Join(e.Problems, "\n")
}

type importer struct {
	client  poiv1.PoiServiceClient
	options ImportOptions
	report  progress.Reporter
	summary ImportSummary

	// begins holds the position of each place by a hash of its key.
	begins map[uint64]landmarkfile.Position
	seed   maphash.Seed
}

// Import reads a file twice: to check it, and to import it in the file's order, one call after
// another. After any failure it may be run again, because it recognises existing landmarks. It
// returns an *InvalidFileError before it sends anything. After any other error, the summary counts
// the places that were imported.
func Import(
	ctx context.Context, client poiv1.PoiServiceClient, file *os.File, options ImportOptions, report progress.Reporter,
) (*ImportSummary, error) {
	i := &importer{client: client, options: options, report: report, begins: make(map[uint64]landmarkfile.Position),
		seed: maphash.MakeSeed()}
	info, err := file.Stat()
	if err != nil {
		return &i.summary, err
	}
	read := func(reach func(int64)) iter.Seq2[landmarkfile.Place, error] {
		from := &progress.Reader{Context: ctx, From: io.NewSectionReader(file, 0, info.Size()), Reach: reach}
		return landmarkfile.Read(from, options.File)
	}
	report.Start("checking", progress.Bytes, info.Size())
	err = i.check(read(report.Reach))
	report.Finish()
	if err != nil {
		return &i.summary, err
	}
	report.Start("importing", progress.Places, i.summary.Places)
	defer report.Finish()
	if err := i.send(ctx, read(func(int64) {})); err != nil {
		return &i.summary, fmt.Errorf("%w; %d of %d places are done: run the import again; it recognises them",
			err, i.summary.Acknowledged(), i.summary.Places)
	}
	return &i.summary, nil
}

// check reads the whole file before anything is sent.
func (i *importer) check(places iter.Seq2[landmarkfile.Place, error]) error {
	s := &i.summary
	isFatal := false
	for place, err := range places {
		if err == nil {
			err = i.add(place)
		}
		problem, isProblem := errors.AsType[*landmarkfile.Error](err)
		switch {
		case err == nil:
			continue
		case !isProblem:
			return err
		case problem.IsFatal:
			s.Problems, isFatal = append(s.Problems, problem.Error()), true
		default:
			s.problem(problem.Error())
		}
		s.Invalid++
		if isFatal {
			break
		}
	}
	lines := s.Problems
	if more := s.Invalid - int64(len(lines)); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", more))
	}
	if s.Places == 0 && !isFatal {
		lines = append(lines, "the file has no landmark that can be imported")
	}
	if isFatal || s.Places == 0 || s.Invalid > 0 && !i.options.SkipInvalid {
		return &InvalidFileError{Problems: lines, IsSkippable: !isFatal && s.Places > 0}
	}
	return nil
}

// add takes a place of the check.
func (i *importer) add(place landmarkfile.Place) error {
	hash := maphash.String(i.seed, place.GetKey())
	before, isTaken := i.begins[hash]
	switch {
	case !isTaken && len(i.begins) == maxPlaces:
		return &landmarkfile.Error{At: place.At,
			Problem: fmt.Sprintf("the file has more than %d places; split it", maxPlaces), IsFatal: true}
	case !isTaken:
		i.begins[hash] = place.At
		i.summary.Places++
	case !place.HasOwnKey:
		i.summary.Repeated++
	default:
		return &landmarkfile.Error{At: place.At,
			Problem: fmt.Sprintf("the key %q is already used in %s", place.GetKey(), before)}
	}
	return nil
}

// send sends the places that have been checked.
func (i *importer) send(ctx context.Context, places iter.Seq2[landmarkfile.Place, error]) error {
	call := make([]landmarkfile.Place, 0, callPlaces)
	for place, err := range places {
		problem, isProblem := errors.AsType[*landmarkfile.Error](err)
		before, isKnown := i.begins[maphash.String(i.seed, place.GetKey())]
		switch {
		case isProblem && !problem.IsFatal, isKnown && before != place.At: // the check reported it
			continue
		case isProblem, err == nil && !isKnown:
			return errors.New("the file changed while it was read; retry when no program writes to it")
		case err != nil:
			return err
		}
		if call = append(call, place); len(call) == callPlaces {
			if err := i.call(ctx, call); err != nil {
				return err
			}
			call = call[:0]
		}
	}
	return i.call(ctx, call)
}

// call sends places in one call. Retries are safe, because places of an earlier try are left
// unchanged.
func (i *importer) call(ctx context.Context, call []landmarkfile.Place) error {
	if len(call) == 0 {
		return nil
	}
	request := &poiv1.ImportPoisRequest{OwnerId: i.options.OwnerID, ValidateOnly: i.options.DryRun}
	if i.options.Update {
		request.Mode = poiv1.ImportMode_IMPORT_MODE_UPDATE
	}
	for _, place := range call {
		request.Pois = append(request.Pois, place.ImportedPoi)
	}
	var reply *poiv1.ImportPoisResponse
	_, err := retry.Do(ctx, retry.Options{Wait: i.options.Wait, Note: i.report.Note}, func() (err error) {
		reply, err = i.client.ImportPois(ctx, request)
		return err
	})
	if err != nil {
		return err
	}
	s := &i.summary
	s.Created += reply.GetCreatedCount()
	s.Updated += reply.GetUpdatedCount()
	s.Unchanged += reply.GetUnchangedCount()
	s.Refused += reply.GetFailedCount()
	for _, f := range reply.GetFailures() {
		if index := f.GetIndex(); 0 <= index && index < int64(len(call)) {
			s.problem(fmt.Sprintf("%s: the key %q was refused: %s (%s)", call[index].At, f.GetKey(), f.GetMessage(),
				f.GetReason()))
		}
	}
	i.report.Reach(s.Acknowledged())
	return nil
}
