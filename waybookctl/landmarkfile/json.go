package landmarkfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/waybook/waybook/internal/text"
)

// recordSeparator precedes each record in a sequence by RFC 8142.
const recordSeparator = 0x1e

// isSequence reports whether a file begins with a record separator, or with a line that is a whole
// record.
func (in *input) isSequence() bool {
	ahead, _ := in.reader.Peek(64 << 10) // a read error shows later
	line, _, _ := bytes.Cut(bytes.TrimLeft(ahead, " \t\n"), []byte("\n"))
	return len(line) > 0 && line[0] == recordSeparator ||
		json.Valid(line) && line[0] == '{' && !bytes.Contains(line, []byte(`"FeatureCollection"`))
}

// sequence reads a record from each line, or from behind each record separator.
func (in *input) sequence(take take) error {
	separator := byte('\n')
	if first, _ := in.reader.Peek(1); string(first) == string(rune(recordSeparator)) { // a read error shows later
		separator = recordSeparator
	}
	var value []byte
	for {
		part, err := in.reader.ReadSlice(separator)
		value = append(value, part...)
		isEnd := errors.Is(err, io.EOF)
		switch {
		case len(value) > MaxRecordBytes+1: // with the separator
			return in.tooLong()
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !isEnd:
			return err
		}
		if text := bytes.Trim(value, " \t\n\x1e"); len(text) > 0 && !take(decode(text)) || isEnd {
			return nil
		}
		in.pass(value)
		value = value[:0]
	}
}

// nesting follows the brackets of JSON.
type nesting struct {
	depth             int
	inText, isEscaped bool
}

func (n *nesting) pass(b byte) {
	switch {
	case n.inText:
		n.inText = b != '"' || n.isEscaped
		n.isEscaped = b == '\\' && !n.isEscaped
	case b == '"':
		n.inText = true
	case b == '{', b == '[':
		n.depth++
	case b == '}', b == ']':
		n.depth--
	}
}

// collection reads the Features of a FeatureCollection.
func (in *input) collection(take take) error {
	// A piece is a member of the collection or, in the list of features, one of these. It is in
	// level brackets.
	var piece []byte
	var nested nesting
	level, line, hasBegun, hasFeatures := 0, in.at.Line, false, false
	for {
		b, err := in.reader.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && hasFeatures && level == 0:
			return nil
		case errors.Is(err, io.EOF):
			return in.fatalf("the file ends before a FeatureCollection with its \"features\" does; it may have been " +
				"cut off: fetch or write it again")
		case err != nil:
			return err
		case b == '\n':
			line++
		}
		before := nested.depth
		nested.pass(b)
		switch isBlank := b == ' ' || b == '\t' || b == '\n'; {
		case isBlank && len(piece) == 0:
		case level == 0 && (b != '{' || hasBegun):
			in.at.Line = line
			return in.fatalf("%q is outside a FeatureCollection; if each line is a record, the format is ndjson", b)
		case level == 0:
			level, hasBegun = 1, true
		case before == 1 && nested.depth == 2 && b == '[' && bytes.HasPrefix(piece, []byte(`"features"`)):
			level, hasFeatures, piece = 2, true, piece[:0]
		case nested.depth < level, b == ',' && before == level && !nested.inText:
			if level == 1 {
				if err := in.checkMember(piece); err != nil {
					return err
				}
			} else if len(piece) > 0 && !take(decode(piece)) {
				return nil
			}
			level, piece = nested.depth, piece[:0]
		case len(piece) == MaxRecordBytes:
			return in.tooLong()
		default:
			if len(piece) == 0 {
				in.at.Line = line
			}
			piece = append(piece, b)
		}
	}
}

// checkMember refuses a member of a document that is not a FeatureCollection.
func (in *input) checkMember(member []byte) error {
	var document struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(slices.Concat([]byte("{"), member, []byte("}")), &document); err != nil {
		return in.fatalf("this is not valid JSON: %v", err)
	}
	if document.Type != "" && document.Type != "FeatureCollection" {
		return in.fatalf("the type is %s and not FeatureCollection; if each line is a record, the format is ndjson",
			quoted(document.Type))
	}
	return nil
}

type object map[string]json.RawMessage

// decode returns the texts of a record.
func decode(value []byte) (texts, error) {
	if !utf8.Valid(value) {
		return nil, errNotUTF8
	}
	var members object
	if err := json.Unmarshal(value, &members); err != nil {
		return nil, fmt.Errorf("this is no object in valid JSON: %w", err)
	}
	if string(members["type"]) == `"Feature"` {
		var err error
		if members, err = members.ofFeature(); err != nil {
			return nil, err
		}
	}
	record := make(texts, len(columns))
	for _, column := range columns {
		value, err := textOf(members[column])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", column, err)
		}
		record[column] = value
	}
	return record, nil
}

// ofFeature returns the properties of a Feature, with its coordinates, and its id as the key.
func (feature object) ofFeature() (object, error) {
	var geometry struct {
		Type        string            `json:"type"`
		Coordinates []json.RawMessage `json:"coordinates"`
	}
	if err := json.Unmarshal(feature["geometry"], &geometry); err != nil || geometry.Type != "Point" ||
		len(geometry.Coordinates) < 2 {
		return nil, errors.New(`the geometry is not a Point such as {"type":"Point","coordinates":[121.5645,25.034]}, longitude first`)
	}
	var properties object
	_ = json.Unmarshal(feature["properties"], &properties) // others than an object count as none
	members := object{}
	maps.Copy(members, properties)
	if id := feature["id"]; len(id) > 0 && string(id) != "null" {
		members["key"] = id
	}
	members["lng"], members["lat"] = geometry.Coordinates[0], geometry.Coordinates[1]
	return members, nil
}

// textOf returns a string, or the digits of a number. null and a missing value are empty.
func textOf(raw json.RawMessage) (value string, err error) {
	switch {
	case len(raw) == 0, string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		err = json.Unmarshal(raw, &value)
		if text.IsHalved(raw, value) {
			err = errors.New(`an escape such as \ud800 is half a character; write the whole character`)
		}
		return value, err
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		return string(raw), nil
	}
	return "", errors.New("this is neither a text nor a number")
}
