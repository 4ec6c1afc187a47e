package importer

import (
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

// block is some lines of a file.
type block struct {
	text []byte
	ends []int
	// places are where the lines are.
	places []Problem
	// lines are valid once decoded is closed.
	lines   []format.Line
	decoded chan struct{}
	// isKept says which records stay; judged fills it.
	isKept []bool
}

// walk reads the files, decodes their lines on all cores, and calls take with one block after the other.
func walk(ctx context.Context, input Input, decoder *format.Decoder, take func(*block) error) error {
	group, ctx := errgroup.WithContext(ctx)
	blocks := make(chan *block, 2*runtime.GOMAXPROCS(0))
	group.Go(func() error {
		defer close(blocks)
		for _, path := range input.Files {
			if err := read(path, input.Stdin, func(b *block) error {
				select {
				case blocks <- b:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
				group.Go(func() error {
					defer close(b.decoded)
					b.decode(decoder)
					return nil
				})
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for b := range blocks {
			<-b.decoded
			if err := take(b); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// read reads a file in blocks.
func read(path string, stdin io.Reader, put func(*block) error) (err error) {
	lines, err := linefile.Open(path, stdin, format.MaxLineBytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	for {
		b := &block{text: make([]byte, 0, blockBytes), decoded: make(chan struct{})}
		for len(b.text) < blockBytes && len(b.ends) < blockLines {
			line, number, err := lines.Next()
			if errors.Is(err, io.EOF) {
				return put(b)
			}
			if err != nil && !errors.Is(err, linefile.ErrLong) {
				return fmt.Errorf("%s:%d: %w", path, number, err)
			}
			b.text = append(b.text, line...) // nothing of a line that is too long
			b.ends, b.places = append(b.ends, len(b.text)), append(b.places, Problem{File: path, Line: number})
		}
		if err := put(b); err != nil {
			return err
		}
	}
}

func (b *block) decode(decoder *format.Decoder) {
	b.lines = make([]format.Line, len(b.ends))
	begin := 0
	for n, end := range b.ends {
		if begin == end {
			b.lines[n].Faults = []format.Fault{{
				Class: format.Unreadable, Text: fmt.Sprintf("the line is longer than %d MiB; is a line break missing?", format.MaxLineBytes>>20),
			}}
			continue
		}
		b.lines[n] = decoder.Decode(b.text[begin:end])
		b.places[n].Kind = b.lines[n].Kind
		begin = end
	}
	b.text = nil
}
