package movefile

import (
	"bytes"
	"encoding/json"
)

// given is a field of an object, with its value as it is written.
type given struct {
	name  []byte
	value json.RawMessage
}

// maxFields bounds the fields of an object that are looked at. No record has as many.
const maxFields = 100

// fieldsIn appends the first fields of a JSON object, in their order. The values are parts of data. It reports false
// if data is no object. A map of json.RawMessage takes several times as long: encoding/json looks at each value three
// times.
func fieldsIn(data []byte, into []given) (_ []given, isObject bool) {
	if !json.Valid(data) {
		return nil, false
	}
	rest := skipSpace(data)
	if rest[0] != '{' {
		return nil, false
	}
	// What follows relies on data being valid.
	for rest = skipSpace(rest[1:]); rest[0] != '}'; rest = skipSpace(rest) {
		if rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
		end := endOfValue(rest)
		name := rest[1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			text, _ := stringOf(rest[:end])
			name = []byte(text)
		}
		rest = skipSpace(rest[end:])
		rest = skipSpace(rest[1:]) // the colon
		end = endOfValue(rest)
		value := rest[:end:end]
		if rest = rest[end:]; len(into) < maxFields {
			into = append(into, given{name, value})
		}
	}
	return into, true
}

// valueOf returns the value of a field; nil if it is not there.
func valueOf(fields []given, name string) json.RawMessage {
	for i := range fields {
		if string(fields[i].name) == name {
			return fields[i].value
		}
	}
	return nil
}

func skipSpace(data []byte) []byte {
	for len(data) > 0 && data[0] <= ' ' {
		data = data[1:]
	}
	return data
}

// endOfValue returns the length of the value with which valid JSON begins.
func endOfValue(data []byte) int {
	depth, isText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case isText && c == '\\':
			i++
		case c == '"':
			if isText = !isText; !isText && depth == 0 {
				return i + 1
			}
		case isText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || c <= ' '):
			return i
		}
	}
	return len(data)
}
