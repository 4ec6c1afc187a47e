package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/waybook/waybook/moving/format"
	"github.com/waybook/waybook/moving/linefile"
)

// blockBytes and blockLines bound the lines that are decoded together, but for the last line.
const (
	blockBytes = 128 << 10
	blockLines = 1000
)

// line is a line of a file.
type line struct {
	format.Line
	at   place
	text []byte
	// isKept says that the record stays; judged sets it.
	isKept bool
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
