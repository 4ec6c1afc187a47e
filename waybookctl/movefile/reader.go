package movefile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxLineBytes bounds a line. The longest text that can be allowed has a million characters.
	maxLineBytes = 16 << 20
	// readAhead is the size of a read buffer in bytes.
	readAhead = 256 << 10
	// maxWindow bounds the memory that a zstd file asks for.
	maxWindow = 128 << 20
)

// Position is the place of a record: the file's position in the command, from 0, and the line from 1.
type Position struct {
	File int
	Line int64
}

// Before orders positions.
func (p Position) Before(other Position) bool {
	return p.File < other.File || p.File == other.File && p.Line < other.Line
}

// Reader reads the lines of a file. A file compressed by gzip or zstd is recognised by its
// beginning.
type Reader struct {
	raw   *counter
	lines *bufio.Reader
	close func() error
	line  []byte
	at    int64
}

// Open opens a file; "-" is stdin.
func Open(path string, stdin io.Reader) (*Reader, error) {
	if path == "-" {
		return NewReader(stdin, func() error { return nil })
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return NewReader(file, file.Close)
}

// NewReader reads from a reader, and calls close at the end.
func NewReader(from io.Reader, close func() error) (*Reader, error) {
	r := &Reader{raw: &counter{reader: from}, close: close}
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

// ErrLong reports that a line is longer than a record can be.
var ErrLong = fmt.Errorf("the line is longer than %d MiB; is a line break missing?", maxLineBytes>>20)

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
		if len(r.line)+len(part) > maxLineBytes {
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
			return nil, ErrLong
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

// Writer writes records.
type Writer struct {
	out  io.Writer
	line bytes.Buffer
}

// NewWriter returns a Writer.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Write writes a record as a line.
func (w *Writer) Write(record Record) error {
	w.line.Reset()
	fmt.Fprintf(&w.line, `{"kind":%q,`, record.Kind())
	begin := w.line.Len()
	encoder := json.NewEncoder(&w.line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(record); err != nil {
		return err
	}
	line := w.line.Bytes()
	// The object's own brace gives way to the kind.
	copy(line[begin:], line[begin+1:])
	_, err := w.out.Write(line[:len(line)-1])
	return err
}
