// Package importer moves the files of an old service into Waybook, which docs/moving-in.md explains: it checks each record
// alone and against those before it, and sends those that are right to the services.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/waybook/waybook/moving/format"
	"github.com/waybook/waybook/waybookctl/progress"
)

// Input are the files, and how they are read.
type Input struct {
	format.Options
	// Files are the paths, in order; "-" is Stdin, for a check only.
	Files []string
	Stdin io.Reader
	// Scratch is the folder of the index, which takes some 30 bytes for each record; "" is that of the system.
	Scratch string
	// Problems gets all problems, a JSON object in each line, unless it is nil.
	Problems io.Writer
}

// Options say how an import is done.
type Options struct {
	Input    Input
	Services Services
	// IsWhole says that the files are whole, whatever their end records say.
	IsWhole bool
	// Verify inserts nothing.
	Verify bool
	// Workers is how many requests are sent at the same time.
	Workers int
}

// ErrIncomplete reports files that lack records, or do not say how many they should have.
var ErrIncomplete = errors.New("the files are incomplete")

// Check reads the files, and reports what they hold and what is wrong.
func Check(ctx context.Context, input Input, watch progress.Reporter) (*Report, error) {
	watch.Start("checking", progress.Records, 0)
	defer watch.Finish()
	report, expected, done := newReport(input.Problems), map[format.Kind]int64{}, int64(0)
	end := Problem{File: input.Files[len(input.Files)-1]}
	err := judged(ctx, input, report.add, func(b *block) error {
		for n, line := range b.lines {
			if line.Kind == format.KindEnd {
				end = b.places[n]
				for kind, count := range line.End {
					expected[kind] += count
				}
				continue
			}
			report.of(line.Kind)["read"]++
			if !b.isKept[n] {
				report.of(line.Kind)["left_out"]++
			}
		}
		done += int64(len(b.lines))
		watch.Reach(done)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return report, report.compare(end, expected)
}

// judged reads the files, tells what is wrong, and calls take with each block of lines.
func judged(ctx context.Context, input Input, tell func(Problem) error, take func(*block) error) (err error) {
	seen, err := newIndex(input.Scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, seen.close()) }()
	decoder := format.NewDecoder(input.Options)
	j := &judge{index: seen, decoder: decoder, repair: input.Repair}
	return walk(ctx, input, decoder, func(b *block) error {
		for n := range b.lines {
			faults, isKept := j.take(&b.lines[n])
			if seen.err != nil {
				return seen.err
			}
			b.isKept = append(b.isKept, isKept)
			for _, fault := range faults {
				if err := tell(b.places[n].of(b.lines[n].Record, fault)); err != nil {
					return err
				}
			}
		}
		return take(b)
	})
}

// Import checks the files, and sends what they hold to the services. If it fails after the check, it returns a report, too.
// It may be repeated.
func Import(ctx context.Context, options Options, watch progress.Reporter) (*Report, error) {
	before, err := state(options.Input.Files)
	if err != nil {
		return nil, err
	}
	report, err := Check(ctx, options.Input, watch)
	if err != nil {
		return nil, err
	}
	if report.IsIncomplete() && !options.IsWhole {
		return report, ErrIncomplete
	}
	if err := unchanged(options.Input.Files, before); err != nil {
		return report, err
	}
	var total int64
	for _, counts := range report.Counts {
		total += counts["read"] - counts["left_out"]
	}
	watch.Start(map[bool]string{false: "importing", true: "verifying"}[options.Verify], progress.Records, total)
	defer watch.Finish()
	s := newSender(ctx, options, report, watch)
	err = judged(ctx, options.Input, func(Problem) error { return nil }, func(b *block) error {
		for n, line := range b.lines {
			if b.isKept[n] {
				if err := s.put(b.places[n], line.Record); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = s.settle()
	}
	_ = s.group.Wait() // its error is that of put or settle
	return report, errors.Join(err, unchanged(options.Input.Files, before))
}

// state returns how large and how old each of the files is, which must be regular ones.
func state(paths []string) (state []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == "-" || err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("an import reads the files twice, and %s is no regular file; write it to one first", path)
		}
		if err != nil {
			return nil, err
		}
		state = append(state, fmt.Sprintf("%s, %d bytes, %v", path, info.Size(), info.ModTime()))
	}
	return state, nil
}

// unchanged reports files that were changed since.
func unchanged(paths, before []string) error {
	now, err := state(paths)
	if err == nil && !slices.Equal(now, before) {
		err = fmt.Errorf("files were changed while they were read; run the command again. Now: %s; before: %s", now, before)
	}
	return err
}
