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
	// hasFeatures reports that the collection's array was found.
	hasFeatures bool
}

// read reads the document.
func (d *documentReader) read(take take) error {
	b, err := d.cutter.blank()
	if errors.Is(err, io.EOF) {
		return fileErrorf(d.cutter.at, "the file is empty; it should be a GeoJSON FeatureCollection or a JSON array")
	}
	if err != nil {
		return err
	}
	if b != '{' && b != '[' {
		return fileErrorf(d.cutter.at, "%q begins neither a GeoJSON FeatureCollection nor a JSON array; is the file in another format?", b)
	}
	if _, err := d.cutter.next(); err != nil {
		return err
	}
	if b == '{' {
		err = d.members(take)
	} else {
		err = d.list(take)
	}
	if err != nil {
		return err
	}
	_, err = d.cutter.blank()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fileErrorf(d.cutter.at, "something follows the end of the list; if there is an object in each line, the format is ndjson")
}

// members reads the members of the collection up to its end.
func (d *documentReader) members(take take) error {
	for want := "\"}"; ; {
		b, err := d.cutter.await(want)
		if err != nil {
			return err
		}
		if b == '"' {
			if err := d.member(take); err != nil {
				return err
			}
			want = ",}"
			continue
		}
		if _, err := d.cutter.next(); err != nil {
			return err
		}
		if b == '}' {
			break
		}
		want = "\""
	}
	if !d.hasFeatures {
		return fileErrorf(Position{1, 1}, "the document has no \"features\"; if there is an object in each line, the format is ndjson")
	}
	return nil
}

// member reads a member of the collection.
func (d *documentReader) member(take take) error {
	name, at, err := d.cutter.cut(maxMemberBytes)
	if err != nil {
		return err
	}
	kind := string(name)
	if _, err := d.cutter.expect(":"); err != nil {
		return err
	}
	switch kind {
	case `"features"`:
		if d.hasFeatures {
			return fileErrorf(at, "this is the second list of features; a collection has one")
		}
		d.hasFeatures = true
		if _, err := d.cutter.expect("["); err != nil {
			return err
		}
		return d.list(take)
	case `"type"`:
		value, at, err := d.cutter.cut(maxMemberBytes)
		if err == nil && string(value) != `"FeatureCollection"` {
			err = fileErrorf(at, "the document's type is %s, not \"FeatureCollection\"; if there is an object in each line, the format is ndjson",
				quoted(strings.Trim(string(value), `"`)))
		}
		return err
	}
	return d.cutter.skip()
}

// list reads the records up to the end of their array.
func (d *documentReader) list(take take) error {
	if b, err := d.cutter.blank(); err == nil && b == ']' {
		_, err := d.cutter.next()
		return err
	}
	for {
		if err := d.element(take); err != nil {
			return err
		}
		if b, err := d.cutter.expect(",]"); err != nil || b == ']' {
			return err
		}
	}
}

// element reads a record.
func (d *documentReader) element(take take) error {
	value, at, err := d.cutter.cut(MaxRecordBytes)
	if err != nil {
		return err
	}
	decoded, err := decode(value, at)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		// After a syntax error, the bounds of later records are unreliable too.
		wrong := at.behind(value[:max(0, min(int(syntax.Offset)-1, len(value)))])
		return fileErrorf(wrong, "this is not valid JSON: %v", err)
	}
	return take(decoded, at, err)
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

// lines reads newline-delimited JSON.
func (in *input) lines(take take) error {
	var line []byte
	for {
		at := in.at
		var err error
		if line, err = in.line(line[:0]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		text := bytes.Trim(line, " \t\r\n")
		if len(text) == 0 {
			continue
		}
		decoded, err := decode(text, at)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			err = &RecordError{At: at, Problem: "this line is not valid JSON: " + err.Error() + "; each line must be one complete object"}
		}
		if err := take(decoded, at, err); err != nil {
			return err
		}
	}
}

// line appends what is before the next line break or the end of the file. It returns io.EOF when
// nothing is left.
func (in *input) line(line []byte) ([]byte, error) {
	at := in.at
	for {
		b, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case err != nil:
			return line, err
		case b == '\n':
			return line, nil
		case len(line) == MaxRecordBytes:
			return line, tooLong(at)
		}
		line = append(line, b)
	}
}
