package landmarkfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// tableReader reads CSV (RFC 4180). encoding/csv is not used: it holds records of any length, and
// changes line breaks within a field.
type tableReader struct {
	*input
	// delimiter separates fields; it is 0 until it is known.
	delimiter byte
	// named are the columns that must exist.
	named   []string
	names   []string
	columns map[string]int

	// cells are the bytes of all fields of a record, and ends holds the end of each field in cells.
	cells []byte
	ends  []int
}

// row is a record of a table.
type row struct {
	columns map[string]int
	fields  []string
}

func (r row) text(field string) (string, error) {
	if i, ok := r.columns[field]; ok {
		return r.fields[i], nil
	}
	return "", nil
}

// read reads the table.
func (t *tableReader) read(take take) error {
	if err := t.readHeader(); err != nil {
		return err
	}
	for {
		fields, at, err := t.readRow()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(fields) != len(t.names):
			err = &RecordError{At: at, Problem: fmt.Sprintf(
				"the header has %d columns, this line %d; quote a field that holds a %q or a line break", len(t.names), len(fields), t.delimiter)}
		case slices.ContainsFunc(fields, func(field string) bool { return !utf8.ValidString(field) }):
			err = &RecordError{At: at, Problem: notUTF8}
		}
		if err := take(row{columns: t.columns, fields: fields}, at, err); err != nil {
			return err
		}
	}
}

// readHeader reads the names of the columns.
func (t *tableReader) readHeader() error {
	if t.delimiter == 0 {
		t.delimiter = t.likelyDelimiter()
	}
	names, at, err := t.readRow()
	if errors.Is(err, io.EOF) {
		return fileErrorf(at, "the file is empty; its first line should name the columns, as in: key,name,category,lat,lng")
	}
	if err != nil {
		return err
	}
	t.names, t.columns = names, make(map[string]int, len(names))
	for i, name := range names {
		name = strings.TrimSpace(name)
		if !utf8.ValidString(name) {
			return &FileError{At: at, Problem: notUTF8}
		}
		if _, isTwice := t.columns[name]; isTwice && name != "" {
			return fileErrorf(at, "two columns are called %s; give each its own name", quoted(name))
		}
		t.columns[name] = i
	}
	for _, wanted := range t.named {
		if _, ok := t.columns[wanted]; !ok {
			return fileErrorf(at, "there is no column %s; the first line names %s", quoted(wanted), quoted(strings.Join(names, ", ")))
		}
	}
	return nil
}

// likelyDelimiter returns the most frequent delimiter in the first line.
func (t *tableReader) likelyDelimiter() byte {
	ahead, _ := t.reader.Peek(readAhead) // a read error shows later
	line, _, _ := bytes.Cut(ahead, []byte("\n"))
	best := byte(',')
	for _, candidate := range []byte{';', '\t'} {
		if bytes.Count(line, []byte{candidate}) > bytes.Count(line, []byte{best}) {
			best = candidate
		}
	}
	return best
}

// readRow reads the next record, skipping empty lines.
func (t *tableReader) readRow() (fields []string, at Position, err error) {
	for {
		at = t.at
		isQuoted, err := t.readCells()
		if err != nil {
			return nil, at, err
		}
		if len(t.ends) == 1 && len(t.cells) == 0 && !isQuoted {
			continue
		}
		text, start := string(t.cells), 0
		fields = make([]string, len(t.ends))
		for i, end := range t.ends {
			fields[i], start = text[start:end], end
		}
		return fields, at, nil
	}
}

// within says where in a field a byte is.
type within int

const (
	atBegin  within = iota
	inPlain         // in a field without quotes
	inQuotes        // behind the quote that opens a field
	atQuote         // behind a quote in such a field: it closes the field, or is the first of two
	atReturn        // behind a carriage return after the closing quote
)

// readCells reads the fields of a record, and reports whether the last one is quoted. It returns
// io.EOF when nothing is left.
func (t *tableReader) readCells() (isQuoted bool, err error) {
	t.cells, t.ends = t.cells[:0], t.ends[:0]
	begins, opened := t.at, t.at
	start, now := 0, atBegin // the field's beginning in cells
	for left := MaxRecordBytes; ; left-- {
		at := t.at
		b, err := t.peek()
		isEnd := errors.Is(err, io.EOF)
		isBreak := isEnd || err == nil && b == '\n' && now != inQuotes
		isDelimiter := !isEnd && b == t.delimiter && now != inQuotes
		switch {
		case err != nil && !isEnd, isEnd && now == atBegin && len(t.ends) == 0:
			return false, err
		case isEnd && now == inQuotes:
			return false, fileErrorf(opened, "the quote that opens here is never closed; the file may have been cut off")
		case b == '"' && now == inPlain:
			return false, fileErrorf(at, `there is a quote within a field that begins without one; write the field as "…" and each quote in it as ""`)
		case now == atReturn && !isBreak, now == atQuote && !isBreak && !isDelimiter && b != '"' && b != '\r':
			return false, fileErrorf(at, `something follows the quote that closes the field; write each quote in a field as ""`)
		case left == 0:
			return false, tooLong(begins)
		}
		if !isEnd {
			if _, err := t.next(); err != nil {
				return false, err
			}
		}
		switch {
		case isBreak:
			if now == inPlain {
				t.cells = t.cells[:start+len(bytes.TrimSuffix(t.cells[start:], []byte("\r")))]
			}
			t.ends = append(t.ends, len(t.cells))
			return isQuoted, nil
		case isDelimiter:
			t.ends = append(t.ends, len(t.cells))
			start, now, isQuoted = len(t.cells), atBegin, false
		case now == atBegin && b == '"':
			opened, now, isQuoted = at, inQuotes, true
		case now == inQuotes && b == '"':
			now = atQuote
		case now == atQuote && b == '\r':
			now = atReturn
		default:
			t.cells = append(t.cells, b)
			if now = inPlain; isQuoted {
				now = inQuotes
			}
		}
	}
}
