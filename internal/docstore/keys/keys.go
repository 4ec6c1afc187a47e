// Package keys encodes index values as bytes that sort as the values do, and back.
// The embedded engine's keys and the port's page tokens are made of them.
package keys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// errMalformed is all that a reader of outside bytes needs to know.
var errMalformed = errors.New("keys: malformed")

// AppendInt64 appends the eight bytes of an integer.
func AppendInt64(key []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(n)^1<<63)
}

// AppendString appends a string and its end mark. A zero byte inside is written as
// 00 FF and the end as 00 00, so that a string sorts before its continuations.
func AppendString(key []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, 0)
		if i < 0 {
			break
		}
		key = append(key, s[:i]...)
		key = append(key, 0, 0xFF)
		s = s[i+1:]
	}
	key = append(key, s...)
	return append(key, 0, 0)
}

// CutInt64 reads an integer from the front of key and returns the rest.
func CutInt64(key []byte) (n int64, rest []byte, err error) {
	if len(key) < 8 {
		return 0, nil, errMalformed
	}
	return int64(binary.BigEndian.Uint64(key) ^ 1<<63), key[8:], nil
}

// CutString reads a string from the front of key and returns the rest.
func CutString(key []byte) (s string, rest []byte, err error) {
	var text []byte
	for {
		i := bytes.IndexByte(key, 0)
		if i < 0 || i+1 >= len(key) {
			return "", nil, errMalformed
		}
		text = append(text, key[:i]...)
		mark := key[i+1]
		key = key[i+2:]
		switch mark {
		case 0:
			return string(text), key, nil
		case 0xFF:
			text = append(text, 0)
		default:
			return "", nil, errMalformed
		}
	}
}

// SkipString returns what follows the string at the front of key.
func SkipString(key []byte) (rest []byte, err error) {
	for {
		i := bytes.IndexByte(key, 0)
		if i < 0 || i+1 >= len(key) {
			return nil, errMalformed
		}
		mark := key[i+1]
		key = key[i+2:]
		switch mark {
		case 0:
			return key, nil
		case 0xFF:
		default:
			return nil, errMalformed
		}
	}
}
