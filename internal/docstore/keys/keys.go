// Package keys encodes index values as bytes that sort like the values, and decodes
// them. The keys of the embedded engine and the page tokens of docstore consist of them.
package keys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// errMalformed gives no detail: callers only need to know that the bytes are invalid.
var errMalformed = errors.New("keys: malformed")

// AppendInt64 appends the eight bytes of an integer.
func AppendInt64(key []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(key, uint64(n)^1<<63)
}

// AppendString appends a string and its end mark. A zero byte in the string becomes
// 00 FF, and the end mark is 00 00. So a string sorts before every longer string that
// begins with it.
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

// CutInt64 decodes an integer at the start of key and returns the rest.
func CutInt64(key []byte) (n int64, rest []byte, err error) {
	if len(key) < 8 {
		return 0, nil, errMalformed
	}
	return int64(binary.BigEndian.Uint64(key) ^ 1<<63), key[8:], nil
}

// CutString decodes a string at the start of key and returns the rest.
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

// SkipString returns the rest of key after the string at its start.
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
