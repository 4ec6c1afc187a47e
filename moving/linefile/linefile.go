// Package linefile reads files line by line: plain ones, and those compressed by gzip or zstd.
package linefile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	// readAhead is the size of a read buffer in bytes.
	readAhead = 256 << 10
	// maxWindow bounds the memory that a zstd file asks for.
	maxWindow = 128 << 20
)

// Reader reads the lines of a file.
type Reader struct {
	raw     *counter
	lines   *bufio.Reader
	close   func() error
	maxLine int
	line    []byte
	at      int64
}

// Open opens a file whose lines have at most maxLine bytes; "-" is stdin. Its beginning says how it is
// compressed.
func Open(path string, stdin io.Reader, maxLine int) (*Reader, error) {
	if path == "-" {
		return newReader(stdin, func() error { return nil }, maxLine)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(file, file.Close, maxLine)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func newReader(from io.Reader, close func() error, maxLine int) (*Reader, error) {
	r := &Reader{raw: &counter{reader: from}, close: close, maxLine: maxLine}
	plain := bufio.NewReaderSize(r.raw, readAhead)
	beginning, err := plain.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, close())
	}
	r.lines = plain
	switch {
	case bytes.HasPrefix(beginning, []byte("\x1f\x8b")):
		unpacked, err := gzip.NewReader(plain)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("this is no valid gzip file: %w", err), close())
		}
		r.lines = bufio.NewReaderSize(unpacked, readAhead)
	case bytes.HasPrefix(beginning, []byte("\x28\xb5\x2f\xfd")):
		unpacked, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("this is no valid zstd file: %w", err), close())
		}
		r.lines = bufio.NewReaderSize(unpacked, readAhead)
		r.close = func() error { unpacked.Close(); return close() }
	case bytes.HasPrefix(beginning, []byte("\xff\xfe")), bytes.HasPrefix(beginning, []byte("\xfe\xff")):
		return nil, errors.Join(errors.New("the file is UTF-16; convert it to UTF-8, as with: iconv -f UTF-16 -t UTF-8"), close())
	}
	if beginning, err := r.lines.Peek(3); err == nil && string(beginning) == "\ufeff" {
		_, _ = r.lines.Discard(3) // it was peeked
	}
	return r, nil
}

// ErrLong reports a line above the limit.
var ErrLong = errors.New("the line is longer")

// Next returns the next line that is not blank, with its number from 1, or io.EOF. The line is valid
// until the next call. After ErrLong the next line follows; any other error ends the file.
func (r *Reader) Next() (line []byte, number int64, err error) {
	for {
		r.at++
		line, err := r.read()
		if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
			return nil, r.at, err
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
			return line, r.at, nil
		}
	}
}

// read reads up to the next line break or the end of the file.
func (r *Reader) read() ([]byte, error) {
	r.line = r.line[:0]
	isLong := false
	for {
		part, err := r.lines.ReadSlice('\n')
		if len(r.line)+len(part) > r.maxLine {
			isLong, r.line = true, r.line[:0]
		}
		if !isLong {
			if err == nil && len(r.line) == 0 {
				return part, nil
			}
			r.line = append(r.line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if isLong && (err == nil || errors.Is(err, io.EOF)) {
			return nil, fmt.Errorf("%w than %d MiB; is a line break missing?", ErrLong, r.maxLine>>20)
		}
		return r.line, err
	}
}

// Bytes returns how many bytes of the file were read, as they are in the file.
func (r *Reader) Bytes() int64 { return r.raw.count }

// Close closes the file.
func (r *Reader) Close() error { return r.close() }

// counter counts what is read.
type counter struct {
	reader io.Reader
	count  int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.count += int64(n)
	return n, err
}
