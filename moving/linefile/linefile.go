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
	io.Closer
	lines   *bufio.Reader
	maxLine int
	line    []byte
	at      int64
}

// Open opens a file whose lines have at most maxLine bytes; "-" is stdin. Its beginning says how
// it is compressed.
func Open(path string, stdin io.Reader, maxLine int) (*Reader, error) {
	file := io.NopCloser(stdin)
	if path != "-" {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
	}
	lines, err := unpack(bufio.NewReaderSize(file, readAhead))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	if beginning, err := lines.Peek(3); err == nil && string(beginning) == "\ufeff" {
		_, _ = lines.Discard(3) // it was peeked
	}
	return &Reader{Closer: file, lines: lines, maxLine: maxLine}, nil
}

// unpack returns what a file has when it is not compressed.
func unpack(file *bufio.Reader) (*bufio.Reader, error) {
	beginning, err := file.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(beginning, []byte("\x1f\x8b")):
		plain, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("this is no valid gzip file: %w", err)
		}
		return bufio.NewReaderSize(plain, readAhead), nil
	case bytes.HasPrefix(beginning, []byte("\x28\xb5\x2f\xfd")):
		// With a concurrency of 1, nothing is left that must be closed.
		plain, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("this is no valid zstd file: %w", err)
		}
		return bufio.NewReaderSize(plain, readAhead), nil
	case bytes.HasPrefix(beginning, []byte("\xff\xfe")), bytes.HasPrefix(beginning, []byte("\xfe\xff")):
		return nil, errors.New("the file is UTF-16; convert it to UTF-8, as with: iconv -f UTF-16 -t UTF-8")
	}
	return file, nil
}

// ErrLong reports a line above the limit.
var ErrLong = errors.New("the line is longer")

// Next returns the next line that is not blank, with its number from 1, or io.EOF. The line is
// valid until the next call. After ErrLong the next line follows; any other error ends the file.
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
		if isLong = isLong || len(r.line)+len(part) > r.maxLine; !isLong {
			r.line = append(r.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case isLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, fmt.Errorf("%w than %d MiB; is a line break missing?", ErrLong, r.maxLine>>20)
		default:
			return r.line, err
		}
	}
}
