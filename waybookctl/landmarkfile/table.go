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

// tableReader reads CSV (RFC 4180). encoding/csv is not used, because it holds records of any
// length and turns \r
//
//	within a field into
//
// .
type tableReader struct {
	*input
	// delimiter separates fields; it is 0 until it is known.
	delimiter byte
	// named are the columns that must exist.
	named   []string
	columns map[string]int
	width   int

	// cells are the bytes of all fields of a record, which starts at begins. ends holds the end of
	// each field in cells. left is how many bytes the record may still have.
	cells  []byte
	ends   []int
	begins Position
	left   int
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

func (r row) point() (lng, lat string, ok bool, err error) { return "", "", false, nil }

func (t *tableReader) read() (record, Position, error) {
	if t.columns == nil {
		if err := t.readHeader(); err != nil {
			return nil, t.begins, err
		}
	}
	fields, at, err := t.readRow()
	switch {
	case err != nil:
		return nil, at, err
	case len(fields) != t.width:
		return nil, at, &RecordError{At: at, Problem: fmt.Sprintf(
			"the header has %d columns, this line %d; quote a field that holds a %q or a line break", t.width, len(fields), t.delimiter)}
	case slices.ContainsFunc(fields, func(field string) bool { return !utf8.ValidString(field) }):
		return nil, at, &RecordError{At: at, Problem: notUTF8}
	}
	return row{columns: t.columns, fields: fields}, at, nil
}

// readHeader reads the names of the columns.
func (t *tableReader) readHeader() error {
	if t.delimiter == 0 {
		t.delimiter = t.likelyDelimiter()
	}
	names, at, err := t.readRow()
	if errors.Is(err, io.EOF) {
		return fileErrorf(t.begins, "the file is empty; its first line should name the columns, as in: key,name,category,lat,lng")
	}
	if err != nil {
		return err
	}
	t.columns, t.width = make(map[string]int, len(names)), len(names)
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
		t.begins, t.left, t.cells, t.ends = t.at, MaxRecordBytes, t.cells[:0], t.ends[:0]
		isQuoted, err := t.readFields()
		if err != nil {
			return nil, t.begins, err
		}
		if len(t.ends) == 1 && len(t.cells) == 0 && !isQuoted {
			continue
		}
		text, start := string(t.cells), 0
		fields = make([]string, len(t.ends))
		for i, end := range t.ends {
			fields[i], start = text[start:end], end
		}
		return fields, t.begins, nil
	}
}

// take reads a byte of the record.
func (t *tableReader) take() (byte, error) {
	if t.left == 0 {
		return 0, tooLong(t.begins)
	}
	t.left--
	return t.next()
}

// keep reads a byte of a field and stores it.
func (t *tableReader) keep() error {
	b, err := t.take()
	t.cells = append(t.cells, b)
	return err
}

// readFields reads the fields of a record, and reports whether the last one is quoted. It returns
// io.EOF when nothing is left.
func (t *tableReader) readFields() (isQuoted bool, err error) {
	for {
		if isQuoted, err = t.readField(); err != nil {
			return isQuoted, err
		}
		t.ends = append(t.ends, len(t.cells))
		b, err := t.take()
		if errors.Is(err, io.EOF) || err == nil && b == '\n' {
			return isQuoted, nil
		}
		if err != nil {
			return isQuoted, err
		}
	}
}

// readField reads a field of a record. It stops before a delimiter, a line feed or the end of the
// file.
func (t *tableReader) readField() (isQuoted bool, err error) {
	b, err := t.peek()
	if errors.Is(err, io.EOF) && len(t.ends) > 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if b == '"' {
		return true, t.readQuoted()
	}
	return false, t.readPlain()
}

// readPlain reads a field without quotes.
func (t *tableReader) readPlain() error {
	start := len(t.cells)
	for {
		b, err := t.peek()
		switch isEnd := errors.Is(err, io.EOF); {
		case isEnd || err == nil && b == '\n':
			t.cells = t.cells[:start+len(bytes.TrimSuffix(t.cells[start:], []byte("\r")))]
			return nil
		case err != nil:
			return err
		case b == t.delimiter:
			return nil
		case b == '"':
			return fileErrorf(t.at, `there is a quote within a field that begins without one; write the field as "…" and each quote in it as ""`)
		}
		if err := t.keep(); err != nil {
			return err
		}
	}
}

// readQuoted reads a field in quotes.
func (t *tableReader) readQuoted() error {
	opened := t.at
	if _, err := t.take(); err != nil {
		return err
	}
	for {
		b, err := t.peek()
		if errors.Is(err, io.EOF) {
			return fileErrorf(opened, "the quote that opens here is never closed; the file may have been cut off")
		}
		if err != nil {
			return err
		}
		if b == '"' {
			if _, err := t.take(); err != nil {
				return err
			}
			if b, err = t.peek(); err != nil || b != '"' {
				return t.endQuoted(b, err)
			}
		}
		if err := t.keep(); err != nil {
			return err
		}
	}
}

// endQuoted checks the byte that follows a closing quote.
func (t *tableReader) endQuoted(b byte, err error) error {
	isReturn := err == nil && b == '\r'
	if isReturn {
		if _, err := t.take(); err != nil {
			return err
		}
		b, err = t.peek()
	}
	switch {
	case errors.Is(err, io.EOF), err == nil && b == '\n', err == nil && b == t.delimiter && !isReturn:
		return nil
	case err != nil:
		return err
	}
	return fileErrorf(t.at, `something follows the quote that closes the field; write each quote in a field as ""`)
}
