package landmarkfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth is the maximum nesting depth of the values in a file.
const maxDepth = 64

// cutter cuts values out of JSON text without decoding them. It bounds the size of a value before
// anything is decoded.
type cutter struct {
	*input
	// value is the last value that was cut.
	value []byte
}

// blank skips blanks and returns the next byte without reading it.
func (c *cutter) blank() (byte, error) {
	for {
		b, err := c.peek()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, nil
		}
		if _, err := c.next(); err != nil {
			return 0, err
		}
	}
}

// await skips blanks and returns the next byte without reading it. The byte must be one of want.
func (c *cutter) await(want string) (byte, error) {
	b, err := c.blank()
	switch {
	case errors.Is(err, io.EOF):
		return 0, fileErrorf(c.at, "the file ends here without %s; it may have been cut off: fetch or write it again", spelled(want))
	case err != nil:
		return 0, err
	case strings.IndexByte(want, b) < 0:
		return 0, fileErrorf(c.at, "this is not valid JSON: %q where %s should be", b, spelled(want))
	}
	return b, nil
}

// expect skips blanks, then reads and returns one of the bytes in want.
func (c *cutter) expect(want string) (byte, error) {
	if _, err := c.await(want); err != nil {
		return 0, err
	}
	return c.next()
}

// spelled lists the expected bytes for an error.
func spelled(want string) string {
	text := fmt.Sprintf("%q", want[0])
	for i := 1; i < len(want); i++ {
		text += fmt.Sprintf(" or %q", want[i])
	}
	return text
}

// cut reads a value of at most limit bytes and returns it with its position. It checks only that
// brackets match and strings end. The value is valid until the next cut.
func (c *cutter) cut(limit int) (value []byte, at Position, err error) {
	if _, err := c.blank(); err != nil && !errors.Is(err, io.EOF) {
		return nil, c.at, err
	}
	at, c.value = c.at, c.value[:0]
	keep := func(b byte) error {
		if len(c.value) == limit {
			return tooLong(at)
		}
		c.value = append(c.value, b)
		return nil
	}
	err = c.scan(keep)
	if errors.Is(err, io.EOF) {
		err = cutOff(at)
	}
	return c.value, at, err
}

// skip reads a value of any length without keeping it.
func (c *cutter) skip() error {
	if _, err := c.blank(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	at := c.at
	err := c.scan(func(byte) error { return nil })
	if errors.Is(err, io.EOF) {
		err = cutOff(at)
	}
	return err
}

// scan reads a value byte by byte.
func (c *cutter) scan(keep func(byte) error) error {
	var open [maxDepth]byte // the closing brackets that are still expected
	depth := 0
	for {
		b, err := c.peek()
		if err != nil {
			// Only a number at the end of the file has no byte after it; no list ends like that.
			return err
		}
		switch b {
		case '"':
			err = c.scanString(keep)
		case '{', '[':
			if depth == maxDepth {
				return fileErrorf(c.at, "the values are nested more than %d deep", maxDepth)
			}
			open[depth] = b + 2 // '}' and ']'
			depth++
			err = c.scanByte(keep)
		case '}', ']':
			if depth == 0 {
				return fileErrorf(c.at, "this is not valid JSON: %q where a value should be", b)
			}
			if open[depth-1] != b {
				return fileErrorf(c.at, "this is not valid JSON: %q has no counterpart", b)
			}
			depth--
			err = c.scanByte(keep)
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return fileErrorf(c.at, "this is not valid JSON: %q where a value should be", b)
			}
			err = c.scanByte(keep)
		default:
			err = c.scanWord(keep)
		}
		if err != nil || depth == 0 {
			return err
		}
	}
}

func (c *cutter) scanByte(keep func(byte) error) error {
	b, err := c.next()
	if err != nil {
		return err
	}
	return keep(b)
}

// scanString reads a string with its quotes.
func (c *cutter) scanString(keep func(byte) error) error {
	for isEscaped, isFirst := false, true; ; isFirst = false {
		b, err := c.next()
		if err != nil {
			return err
		}
		if err := keep(b); err != nil {
			return err
		}
		switch {
		case isEscaped:
			isEscaped = false
		case b == '\\':
			isEscaped = true
		case b == '"' && !isFirst:
			return nil
		}
	}
}

// scanWord reads a number, true, false, null, or any other text in such a place.
func (c *cutter) scanWord(keep func(byte) error) error {
	for {
		if err := c.scanByte(keep); err != nil {
			return err
		}
		b, err := c.peek()
		if err != nil {
			return err
		}
		switch b {
		case '"', '{', '}', '[', ']', ',', ':', ' ', '\t', '\r', '\n':
			return nil
		}
	}
}
