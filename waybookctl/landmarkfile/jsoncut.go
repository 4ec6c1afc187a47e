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
	c.value = c.value[:0]
	at, err = c.scan(func(b byte) bool {
		c.value = append(c.value, b)
		return len(c.value) <= limit
	})
	return c.value, at, err
}

// skip reads a value of any length without keeping it.
func (c *cutter) skip() error {
	_, err := c.scan(func(byte) bool { return true })
	return err
}

// endsWord are the bytes that end a number, true, false, null, or any other text in such a place.
const endsWord = "\"{}[],: \t\r\n"

// scan skips blanks, then reads a value byte by byte as long as keep returns true, and returns its
// position.
func (c *cutter) scan(keep func(byte) bool) (at Position, err error) {
	if _, err := c.blank(); err != nil && !errors.Is(err, io.EOF) {
		return c.at, err
	}
	at = c.at
	open := make([]byte, 0, maxDepth) // the closing brackets that are still expected
	var isString, isEscaped, isWord bool
	for {
		// Only a number at the end of the file has no byte after it; no list ends like that.
		b, err := c.peek()
		if errors.Is(err, io.EOF) {
			return at, cutOff(at)
		}
		if err != nil {
			return at, err
		}
		if isWord && strings.IndexByte(endsWord, b) >= 0 {
			if isWord = false; len(open) == 0 {
				return at, nil
			}
		}
		switch {
		case isWord:
		case isString:
			isString = isEscaped || b != '"'
			isEscaped = !isEscaped && b == '\\'
		case b == '"':
			isString = true
		case b == '{', b == '[':
			if len(open) == maxDepth {
				return at, fileErrorf(c.at, "the values are nested more than %d deep", maxDepth)
			}
			open = append(open, b+2) // '}' and ']'
		case strings.IndexByte(endsWord, b) < 0:
			isWord = true
		case len(open) == 0:
			return at, fileErrorf(c.at, "this is not valid JSON: %q where a value should be", b)
		case b == '}', b == ']':
			if open[len(open)-1] != b {
				return at, fileErrorf(c.at, "this is not valid JSON: %q has no counterpart", b)
			}
			open = open[:len(open)-1]
		}
		if _, err := c.next(); err != nil {
			return at, err
		}
		if !keep(b) {
			return at, tooLong(at)
		}
		if len(open) == 0 && !isString && !isWord {
			return at, nil
		}
	}
}
