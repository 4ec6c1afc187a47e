// Package transfer imports landmarks from files into PoiService and exports them.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

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
	source.size, err = io.Copy(file, &bounded{ctx: ctx, reader: reader, left: maxBytes, limit: maxBytes})
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
func (s *Source) reader(reach func(int64)) io.Reader {
	return &counted{reader: io.NewSectionReader(s.file, 0, s.size), reach: reach}
}

// counted reports how many bytes have been read.
type counted struct {
	reader io.Reader
	reach  func(int64)
	done   int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.done += int64(n)
	c.reach(c.done)
	return n, err
}

// bounded reads at most limit bytes. It fails if there are more, or when ctx is done.
type bounded struct {
	ctx         context.Context
	reader      io.Reader
	left, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.reader.Read(p[:min(int64(len(p)), b.left+1)])
	if int64(n) > b.left {
		return 0, fmt.Errorf("the input is longer than the limit of %d bytes; raise the limit, or save the input to a file and import that", b.limit)
	}
	b.left -= int64(n)
	return n, err
}
