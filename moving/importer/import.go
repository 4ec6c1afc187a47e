// Package importer moves the files of an old service into Waybook, which docs/moving-in.md
// explains: it checks each record alone and against those before it, and sends those that are
// right to the services.
package importer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/moving/format"
	"github.com/waybook/waybook/moving/linefile"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// Input are the files, and how they are read.
type Input struct {
	format.Decoder
	// Files are the paths, in order; "-" is Stdin, for a check only.
	Files []string
	Stdin io.Reader
	// Scratch is the folder of temporary files, which take some 60 bytes for each record; "" is
	// that of the system.
	Scratch string
	// Photos is the folder in which the addresses of photos begin; nil if their files do not move
	// in.
	Photos *os.Root
	// Problems gets all problems, a JSON object in each line.
	Problems io.Writer
}

// Options say how an import is done.
type Options struct {
	Input Input
	// Service takes the records.
	Service moveinv1.MoveInServiceClient
	// Upload takes a file as PhotoService.Upload does.
	Upload func(context.Context, *photov1.UploadStart, io.Reader) error
	// IsWhole says that the files are whole, whatever their end records say.
	IsWhole bool
	// Verify inserts nothing.
	Verify bool
	// Workers is how many requests are sent at the same time.
	Workers int
}

// ErrIncomplete reports files that lack records, or do not say how many they should have.
var ErrIncomplete = errors.New("the files are incomplete")

// Check reads the files, and reports what they hold and what is wrong. With ErrIncomplete, it
// returns a report, too.
func Check(ctx context.Context, input Input, watch progress.Reporter) (*Report, error) {
	return check(ctx, input, watch, io.Discard)
}

// check is Check, and writes the verdict of each line.
func check(ctx context.Context, input Input, watch progress.Reporter, to io.Writer) (_ *Report, err error) {
	watch.Start("checking", progress.Records, 0)
	defer watch.Finish()
	seen, err := newIndex(input.Scratch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, seen.file.Close()) }()
	j, verdicts := &judge{index: seen, decoder: input.Decoder}, bufio.NewWriter(to)
	report, expected, done := newReport(input.Problems), map[format.Kind]int64{}, int64(0)
	end := place{File: input.Files[len(input.Files)-1]}
	err = walk(ctx, input, func(l *line) error {
		j.take(l)
		done++
		watch.Reach(done)
		if l.Kind == format.KindEnd {
			end = l.at
			for kind, count := range l.End {
				expected[kind] += count
			}
		} else {
			report.count(l)
		}
		for _, fault := range l.Faults {
			if err := report.add(l.at, l.Record, fault); err != nil {
				return err
			}
		}
		if err := report.checkFile(input.Photos, l); err != nil {
			return err
		}
		_, err := verdicts.Write(binary.LittleEndian.AppendUint64(nil, uint64(l.verdict)))
		return cmp.Or(seen.err, err)
	})
	if err = cmp.Or(err, verdicts.Flush()); err != nil {
		return nil, err
	}
	return report, report.compare(end, expected)
}

// Import checks the files, and sends what they hold to the services. If it fails after the check,
// it returns a report, too. It may be repeated.
func Import(ctx context.Context, options Options, watch progress.Reporter) (_ *Report, err error) {
	before, err := state(options.Input.Files)
	if err != nil {
		return nil, err
	}
	file, err := newScratch(options.Input.Scratch)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	report, err := check(ctx, options.Input, watch, file)
	if err != nil && !(options.IsWhole && errors.Is(err, ErrIncomplete)) {
		return report, err
	}
	if err := unchanged(options.Input.Files, before); err != nil {
		return report, err
	}
	report.isVerification = options.Verify
	var total int64
	for _, counts := range report.Counts {
		total += counts["read"] - counts["left_out"]
	}
	watch.Start(map[bool]string{false: "importing", true: "verifying"}[options.Verify], progress.Records, total)
	defer watch.Finish()
	s := newSender(ctx, options, report, watch)
	verdicts, written := bufio.NewReader(io.NewSectionReader(file, 0, math.MaxInt64)), [8]byte{}
	err = walk(ctx, options.Input, func(l *line) error {
		if _, err := io.ReadFull(verdicts, written[:]); err != nil {
			return err
		}
		l.verdict = verdict(binary.LittleEndian.Uint64(written[:]))
		if !l.isKept() || !l.isSound() { // a kept line that is not sound has changed meanwhile
			return nil
		}
		l.mend(options.Input.Decoder)
		return s.put(l)
	})
	if err == nil {
		err = s.settle()
	}
	_ = s.group.Wait() // its error is that of put or settle
	return report, errors.Join(err, unchanged(options.Input.Files, before))
}

// state describes the files, which must be regular ones, by their sizes and ages.
func state(paths []string) (state string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == "-" || err == nil && !info.Mode().IsRegular() {
			return "", fmt.Errorf("an import reads the files twice, and %s is no regular file; write it to one first",
				path)
		}
		if err != nil {
			return "", err
		}
		state += fmt.Sprintf("; %s, %d bytes, %v", path, info.Size(), info.ModTime())
	}
	return state, nil
}

// unchanged reports files that were changed since.
func unchanged(paths []string, before string) error {
	now, err := state(paths)
	if err == nil && now != before {
		err = fmt.Errorf("files were changed while they were read; run the command again. Before%s. Now%s", before,
			now)
	}
	return err
}

// blockBytes and blockLines bound the lines that are decoded together, but for the last line.
const (
	blockBytes = 128 << 10
	blockLines = 1000
)

// line is a line of a file.
type line struct {
	format.Line
	at      place
	text    []byte
	verdict verdict
}

// block is some lines of a file, which are decoded once the channel is closed.
type block struct {
	lines   []line
	decoded chan struct{}
}

// walk reads the files, decodes their lines on all cores, and calls take with one after the other.
func walk(ctx context.Context, input Input, take func(*line) error) error {
	group, ctx := errgroup.WithContext(ctx)
	blocks := make(chan *block, 2*runtime.GOMAXPROCS(0))
	put := func(b *block) error {
		select {
		case blocks <- b:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		group.Go(func() error {
			defer close(b.decoded)
			b.decode(input.Decoder)
			return nil
		})
		return nil
	}
	group.Go(func() error {
		defer close(blocks)
		for _, path := range input.Files {
			if err := read(path, input.Stdin, put); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for b := range blocks {
			<-b.decoded
			for n := range b.lines {
				if err := take(&b.lines[n]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return group.Wait()
}

// read reads a file in blocks.
func read(path string, stdin io.Reader, put func(*block) error) (err error) {
	file, err := linefile.Open(path, stdin, format.MaxLineBytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for {
		b := &block{decoded: make(chan struct{})}
		for size := 0; size < blockBytes && len(b.lines) < blockLines; {
			text, number, err := file.Next()
			next := line{at: place{File: path, Line: number}, text: bytes.Clone(text)}
			switch {
			case errors.Is(err, io.EOF):
				return put(b)
			case errors.Is(err, linefile.ErrLong):
				next.Faults = []format.Fault{{Class: format.Unreadable, Text: err.Error()}}
			case err != nil:
				return fmt.Errorf("%s:%d: %w", path, number, err)
			}
			size += len(text)
			b.lines = append(b.lines, next)
		}
		if err := put(b); err != nil {
			return err
		}
	}
}

func (b *block) decode(decoder format.Decoder) {
	for n := range b.lines {
		if l := &b.lines[n]; l.text != nil {
			l.Line, l.text = decoder.Decode(l.text), nil
			l.at.Kind = l.Kind
		}
	}
}
