package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/moving/format"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// fileKind is what a report counts the files of photos as.
const fileKind format.Kind = "file"

// noFile is the class of photos whose address names no file.
const noFile format.Class = "no-file"

// find returns the name of the file in a folder that the address of a photo names: the address
// itself, or its path without escapes. A path that leads out of the folder, also by a link, is an
// error.
func find(folder *os.Root, address string) (name string, err error) {
	names := []string{address}
	if parsed, err := url.Parse(address); err == nil {
		names = append(names, parsed.Path)
	}
	for _, name := range names {
		var info fs.FileInfo
		name = strings.TrimLeft(name, "/")
		if info, err = folder.Stat(name); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	if err == nil {
		err = errors.New("it is no regular file")
	}
	return "", err
}

// checkFile counts the file of a photo, and reports it if it is not there. The record stays.
func (r *Report) checkFile(folder *os.Root, l *line) error {
	photo := l.Record.GetPhoto()
	if folder == nil || photo == nil || !l.isKept() {
		return nil
	}
	r.of(fileKind)["read"]++
	_, err := find(folder, photo.GetUrl())
	if err == nil {
		return nil
	}
	r.of(fileKind)["left_out"]++
	return r.add(l.at, l.Record, format.Fault{
		Field: "url", Class: noFile, Value: photo.GetUrl(),
		Text: fmt.Sprintf("the photo moves in without its file: %v", err),
	})
}

// sendFiles sends the files of the photos of a batch, one after the other.
func (s *sender) sendFiles(ctx context.Context, b *batch, results []*moveinv1.Result) error {
	if s.Input.Photos == nil {
		return nil
	}
	for n, result := range results {
		photo := b.records[n].GetPhoto()
		if photo == nil {
			continue
		}
		name, err := find(s.Input.Photos, photo.GetUrl())
		if err != nil { // the check has reported it
			continue
		}
		outcome, problem := s.outcome(result), (*format.Fault)(nil)
		if result.GetUpload() != nil {
			if outcome, problem, err = s.sendFile(ctx, name, result.GetUpload()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := s.takeFile(b, n, outcome, problem); err != nil {
			return err
		}
	}
	return nil
}

// sendFile sends a file, and returns what became of it, with a problem if it is not in Waybook.
func (s *sender) sendFile(
	ctx context.Context, name string, to *photov1.UploadStart,
) (outcome string, problem *format.Fault, err error) {
	const without = "the photo is in Waybook without its file"
	if s.Verify {
		return absent, &format.Fault{Class: absent, Text: without}, nil
	}
	err = s.persist(ctx, func() error {
		file, err := s.Input.Photos.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		return s.Upload(ctx, to, file)
	})
	if err == nil {
		return "inserted", nil, nil
	}
	refusal := apierror.From(err)
	switch refusal.Kind {
	case codes.InvalidArgument, codes.FailedPrecondition, codes.NotFound:
		text := fmt.Sprintf("%s: %s: %s", without, refusal.Reason, refusal.Message)
		return "refused", &format.Fault{Class: "refused", Value: refusal.Reason, Text: text}, nil
	}
	return "", nil, err
}

// takeFile counts what became of the file of a photo, and reports it if that is a problem.
func (s *sender) takeFile(b *batch, n int, outcome string, problem *format.Fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.of(fileKind)[outcome]++
	s.done++
	s.watch.Reach(s.done)
	if problem == nil {
		return nil
	}
	problem.Field = "url"
	return s.report.add(b.places[n], b.records[n], *problem)
}
