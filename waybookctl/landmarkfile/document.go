package landmarkfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// maxMemberBytes bounds the short texts of a collection: the names of its members and its type.
const maxMemberBytes = 1000

// documentReader reads a JSON document: an array of records, or a collection with an
// array of them under "features".
type documentReader struct {
	cutter cutter
	next   func() (record, Position, error)
	// isCollection reports that the array is in a collection, hasFeatures that the array was found.
	isCollection, hasFeatures bool
}

func newDocumentReader(in *input) *documentReader {
	d := &documentReader{cutter: cutter{input: in}}
	d.next = d.begin
	return d
}

func (d *documentReader) read() (record, Position, error) { return d.next() }

// begin reads up to and including the first record.
func (d *documentReader) begin() (record, Position, error) {
	b, err := d.cutter.blank()
	if errors.Is(err, io.EOF) {
		return nil, d.cutter.at, fileErrorf(d.cutter.at, "the file is empty; it should be a GeoJSON FeatureCollection or a JSON array")
	}
	if err != nil {
		return nil, d.cutter.at, err
	}
	if b != '{' && b != '[' {
		return nil, d.cutter.at, fileErrorf(d.cutter.at,
			"%q begins neither a GeoJSON FeatureCollection nor a JSON array; is the file in another format?", b)
	}
	if _, err := d.cutter.next(); err != nil {
		return nil, d.cutter.at, err
	}
	if d.isCollection = b == '{'; d.isCollection {
		return d.members("\"}")
	}
	return d.first()
}

// members reads members of the collection up to its records or its end. The next byte must be one
// of want.
func (d *documentReader) members(want string) (record, Position, error) {
	for {
		b, err := d.cutter.await(want)
		if err != nil {
			return nil, d.cutter.at, err
		}
		if b == '"' {
			isList, err := d.member()
			if err != nil {
				return nil, d.cutter.at, err
			}
			if isList {
				return d.first()
			}
			want = ",}"
			continue
		}
		if _, err := d.cutter.next(); err != nil {
			return nil, d.cutter.at, err
		}
		if b == '}' {
			return d.end()
		}
		want = "\""
	}
}

// member reads a member of the collection. For the list of records, it stops at the first of them
// and returns true.
func (d *documentReader) member() (isList bool, err error) {
	name, at, err := d.cutter.cut(maxMemberBytes)
	if err != nil {
		return false, err
	}
	kind := string(name)
	if _, err := d.cutter.expect(":"); err != nil {
		return false, err
	}
	switch kind {
	case `"features"`:
		if d.hasFeatures {
			return false, fileErrorf(at, "this is the second list of features; a collection has one")
		}
		d.hasFeatures = true
		_, err := d.cutter.expect("[")
		return true, err
	case `"type"`:
		value, at, err := d.cutter.cut(maxMemberBytes)
		if err == nil && string(value) != `"FeatureCollection"` {
			err = fileErrorf(at, "the document's type is %s, not \"FeatureCollection\"; if there is an object in each line, the format is ndjson",
				quoted(strings.Trim(string(value), `"`)))
		}
		return false, err
	}
	return false, d.cutter.skip()
}

// first reads the first record, if there is one.
func (d *documentReader) first() (record, Position, error) {
	if b, err := d.cutter.blank(); err == nil && b == ']' {
		return d.following()
	}
	return d.element()
}

// following reads the text after a record.
func (d *documentReader) following() (record, Position, error) {
	b, err := d.cutter.expect(",]")
	switch {
	case err != nil:
		return nil, d.cutter.at, err
	case b == ',':
		return d.element()
	case d.isCollection:
		return d.members(",}")
	}
	return d.end()
}

// element reads a record.
func (d *documentReader) element() (record, Position, error) {
	value, at, err := d.cutter.cut(MaxRecordBytes)
	if err != nil {
		return nil, at, err
	}
	d.next = d.following
	decoded, err := decode(value, at)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		// After a syntax error, the bounds of later records are unreliable too.
		wrong := at.behind(value[:max(0, min(int(syntax.Offset)-1, len(value)))])
		return nil, at, fileErrorf(wrong, "this is not valid JSON: %v", err)
	}
	return decoded, at, err
}

// end checks that nothing follows the document.
func (d *documentReader) end() (record, Position, error) {
	if d.isCollection && !d.hasFeatures {
		return nil, d.cutter.at, fileErrorf(Position{1, 1}, "the document has no \"features\"; if there is an object in each line, the format is ndjson")
	}
	if _, err := d.cutter.blank(); err != nil {
		return nil, d.cutter.at, err // io.EOF at a proper end
	}
	return nil, d.cutter.at, fileErrorf(d.cutter.at, "something follows the end of the list; if there is an object in each line, the format is ndjson")
}

// decode decodes a record. Its error is a *RecordError, or a *json.SyntaxError.
func decode(value []byte, at Position) (record, error) {
	if !utf8.Valid(value) {
		return nil, &RecordError{At: at, Problem: notUTF8}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(value, &object); err != nil || object == nil {
		var wrongType *json.UnmarshalTypeError
		if err == nil || errors.As(err, &wrongType) {
			return nil, &RecordError{At: at, Problem: "this is not an object; a record is a GeoJSON Feature or an object with the fields name, lat and lng"}
		}
		return nil, err
	}
	if string(bytes.TrimSpace(object["type"])) == `"Feature"` {
		return newFeature(object), nil
	}
	return fields(object), nil
}

// lineReader reads newline-delimited JSON.
type lineReader struct {
	*input
	line []byte
}

func (l *lineReader) read() (record, Position, error) {
	for {
		at := l.at
		if err := l.readLine(); err != nil {
			return nil, at, err
		}
		line := bytes.Trim(l.line, " \t\r\n")
		if len(line) == 0 {
			continue
		}
		decoded, err := decode(line, at)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			err = &RecordError{At: at, Problem: notAnObject(err)}
		}
		return decoded, at, err
	}
}

// notAnObject describes a line that is not valid JSON.
func notAnObject(err error) string {
	return "this line is not valid JSON: " + err.Error() + "; each line must be one complete object"
}

// readLine reads up to a line break or the end of the file. It returns io.EOF when nothing is left.
func (l *lineReader) readLine() error {
	at := l.at
	l.line = l.line[:0]
	for {
		b, err := l.next()
		if errors.Is(err, io.EOF) && len(l.line) > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if b == '\n' {
			return nil
		}
		if len(l.line) == MaxRecordBytes {
			return tooLong(at)
		}
		l.line = append(l.line, b)
	}
}
