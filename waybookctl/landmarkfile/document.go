package landmarkfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// maxMemberBytes bounds the names of the members of a collection and its type.
const maxMemberBytes = 1000

// documentReader reads a JSON document: an array of records, or a collection with an
// array of them under "features".
type documentReader struct {
	*input
	decoder *json.Decoder
	// ahead is what the decoder has read and at has not passed.
	ahead bytes.Buffer
	// passed is the offset of at in what the decoder reads.
	passed int64
	// left is how much the decoder may read for a record.
	left int
	// hasFeatures reports that the collection's array was found.
	hasFeatures bool
}

// errLong reports that a record exceeds its limit.
var errLong = errors.New("the record is too long")

// Read gives the decoder bytes up to the limit of a record.
func (d *documentReader) Read(p []byte) (int, error) {
	if d.left <= 0 {
		return 0, errLong
	}
	n, err := d.reader.Read(p[:min(len(p), d.left)])
	d.left -= n
	_, _ = d.ahead.Write(p[:n]) // never fails
	return n, err
}

// start moves to the next value, which is behind blanks and separators, and returns its position.
func (d *documentReader) start() Position {
	d.left = MaxRecordBytes
	d.decoder.More() // reads up to the value
	d.pass(max(0, int(d.decoder.InputOffset()-d.passed)))
	d.pass(len(d.ahead.Bytes()) - len(bytes.TrimLeft(d.ahead.Bytes(), " \t\r\n,:")))
	return d.at
}

func (d *documentReader) pass(count int) {
	d.at = d.at.behind(d.ahead.Next(count))
	d.passed += int64(count)
}

// token reads a bracket, a name or a scalar.
func (d *documentReader) token() (json.Token, error) {
	at := d.start()
	token, err := d.decoder.Token()
	if text, isText := token.(string); isText && len(text) > maxMemberBytes {
		err = errLong
	}
	return token, d.failed(err, at)
}

// expect reads a bracket.
func (d *documentReader) expect(want json.Delim) error {
	at := d.start()
	token, err := d.token()
	if err == nil && token != want {
		err = fileErrorf(at, "this is not valid JSON: '%v' where '%v' should be", token, want)
	}
	return err
}

// failed describes why a value that begins at a position can't be read.
func (d *documentReader) failed(err error, at Position) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLong):
		return tooLong(at)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if d.ahead.Len() == 0 {
			return fileErrorf(at, "the file ends here without the end of its list; it may have been cut off: fetch or write it again")
		}
		return cutOff(at)
	case errors.As(err, &syntax):
		return fileErrorf(at, "this is not valid JSON: %v", err)
	}
	return d.input.failed(err)
}

// read reads the document.
func (d *documentReader) read(take take) error {
	d.decoder = json.NewDecoder(d)
	at := d.start()
	if len(d.ahead.Bytes()) == 0 {
		if _, err := d.peek(); !errors.Is(err, io.EOF) {
			return err
		}
		return fileErrorf(at, "the file is empty; it should be a GeoJSON FeatureCollection or a JSON array")
	}
	if b := d.ahead.Bytes()[0]; b != '{' && b != '[' {
		return fileErrorf(at, "%q begins neither a GeoJSON FeatureCollection nor a JSON array; is the file in another format?", b)
	}
	token, err := d.token()
	if err != nil {
		return err
	}
	if token == json.Delim('{') {
		err = d.members(take)
	} else {
		err = d.list(take)
	}
	if err != nil {
		return err
	}
	at = d.start()
	if _, err := d.decoder.Token(); !errors.Is(err, io.EOF) {
		if _, isSyntax := errors.AsType[*json.SyntaxError](err); err != nil && !isSyntax {
			return d.failed(err, at)
		}
		return fileErrorf(at, "something follows the end of the list; if there is an object in each line, the format is ndjson")
	}
	return nil
}

// members reads the members of the collection up to its end.
func (d *documentReader) members(take take) error {
	for d.decoder.More() {
		at := d.start()
		name, err := d.token()
		if err != nil {
			return err
		}
		switch name {
		case "features":
			if d.hasFeatures {
				return fileErrorf(at, "this is the second list of features; a collection has one")
			}
			d.hasFeatures = true
			if err = d.expect('['); err == nil {
				err = d.list(take)
			}
		case "type":
			at = d.start()
			var kind json.Token
			if kind, err = d.token(); err == nil && kind != "FeatureCollection" {
				err = fileErrorf(at, "the document's type is %s, not \"FeatureCollection\"; if there is an object in each line, the format is ndjson",
					quoted(fmt.Sprint(kind)))
			}
		default:
			err = d.skip()
		}
		if err != nil {
			return err
		}
	}
	if err := d.expect('}'); err != nil {
		return err
	}
	if !d.hasFeatures {
		return fileErrorf(Position{1, 1}, "the document has no \"features\"; if there is an object in each line, the format is ndjson")
	}
	return nil
}

// skip reads a value of any length without keeping it.
func (d *documentReader) skip() error {
	for open := 0; ; {
		at := d.start()
		token, err := d.decoder.Token()
		if err != nil {
			return d.failed(err, at)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			open++
		case json.Delim('}'), json.Delim(']'):
			open--
		}
		if open == 0 {
			return nil
		}
	}
}

// list reads the records up to the end of their array.
func (d *documentReader) list(take take) error {
	for d.decoder.More() {
		at := d.start()
		var value json.RawMessage
		if err := d.decoder.Decode(&value); err != nil {
			return d.failed(err, at)
		}
		if len(value) > MaxRecordBytes {
			return tooLong(at)
		}
		decoded, err := decode(value, at)
		if err := take(decoded, at, err); err != nil {
			return err
		}
	}
	return d.expect(']')
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
		if _, isSyntax := errors.AsType[*json.SyntaxError](err); isSyntax {
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

// fields are the members of a JSON object with the fields themselves.
type fields map[string]json.RawMessage

func (f fields) text(field string) (string, error) { return textOf(f[field]) }

// feature is a GeoJSON Feature.
type feature struct {
	fields // its properties
	own    map[string]json.RawMessage
}

func newFeature(object map[string]json.RawMessage) feature {
	f := feature{own: object}
	// Properties that are not an object count as none.
	_ = json.Unmarshal(object["properties"], &f.fields)
	return f
}

// text returns a property, or the Feature's own id.
func (f feature) text(field string) (string, error) {
	if field == "id" {
		if id, err := textOf(f.own["id"]); id != "" || err != nil {
			return id, err
		}
	}
	return f.fields.text(field)
}

// point returns the coordinates.
func (f feature) point() (lng, lat string, err error) {
	var geometry struct {
		Type        string            `json:"type"`
		Coordinates []json.RawMessage `json:"coordinates"`
	}
	raw := f.own["geometry"]
	if len(raw) == 0 || string(raw) == "null" {
		return "", "", errors.New("the geometry is missing; a landmark needs a Point")
	}
	err = json.Unmarshal(raw, &geometry)
	if geometry.Type != "" && geometry.Type != "Point" {
		return "", "", errors.New("the geometry is a " + quoted(geometry.Type) + "; only a Point can be a landmark")
	}
	if err != nil || geometry.Type == "" || len(geometry.Coordinates) < 2 {
		return "", "", errors.New(`the geometry is not one like {"type":"Point","coordinates":[121.5645,25.034]}, longitude first`)
	}
	return string(geometry.Coordinates[0]), string(geometry.Coordinates[1]), nil
}

// textOf returns a string, or the digits of a number. null and a missing value are empty.
func textOf(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	switch b := raw[0]; {
	case b == '"':
		var value string
		err := json.Unmarshal(raw, &value)
		if text.IsHalved(raw, value) {
			err = errors.New(`an escape such as \ud800 is half a character; write the whole character`)
		}
		return value, err
	case b == '-' || '0' <= b && b <= '9':
		return string(raw), nil
	}
	return "", errors.New("this is neither a text nor a number")
}
