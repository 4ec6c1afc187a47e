package docstore

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore/keys"
)

// originBytes is the length of the hash that binds a token to its query.
const originBytes = 4

// origin returns a hash of the collection and of the query's selection. A token that was
// issued for another query has another origin and is refused.
func (r *reader[T]) origin(query Query) []byte {
	where := query.Where
	walk := AppendValues([]byte(r.spec.Name+"\x00"+where.index+"\x00"+query.Of+"\x00"), where.equal...)
	const from, to, next, descending = 0, 1, 2, 3 // a mark before each bound, between two spans, and behind all
	for i, span := range where.spans {
		if i > 0 {
			walk = append(walk, next)
		}
		if !span.From.IsNone() {
			walk = AppendValues(append(walk, from), span.From)
		}
		if !span.To.IsNone() {
			walk = AppendValues(append(walk, to), span.To)
		}
	}
	if query.Descending {
		walk = append(walk, descending)
	}
	sum := fnv.New32a()
	_, _ = sum.Write(walk)
	return binary.BigEndian.AppendUint32(nil, sum.Sum32())
}

// tokenOf returns the token of the page that starts after a document.
func tokenOf(document bson.Raw, origin []byte, fields []Field) (string, error) {
	key, err := AppendKey(append([]byte(nil), origin...), fields, document)
	if err != nil {
		return "", err
	}
	return EncodeToken(key), nil
}

// tokenSums is the table of the checksums of tokens.
var tokenSums = crc32.MakeTable(crc32.Castagnoli)

// EncodeToken returns the text of a token, which ends with a checksum (docs/decisions/security.md).
func EncodeToken(raw []byte) string {
	raw = binary.BigEndian.AppendUint32(raw[:len(raw):len(raw)], crc32.Checksum(raw, tokenSums))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// DecodeToken returns the bytes of a text that EncodeToken has returned, and ErrBadToken for every
// other text.
func DecodeToken(text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // the decoder skips line breaks
		return nil, ErrBadToken
	}
	end := len(raw) - crc32.Size
	if end < 0 || binary.BigEndian.Uint32(raw[end:]) != crc32.Checksum(raw[:end], tokenSums) {
		return nil, ErrBadToken
	}
	return raw[:end], nil
}

// parseToken decodes the field values of a token, or returns ErrBadToken.
func parseToken(token string, origin []byte, fields []Field) ([]Value, error) {
	key, err := DecodeToken(token)
	if err != nil || len(key) < originBytes || string(key[:originBytes]) != string(origin) {
		return nil, ErrBadToken
	}
	key = key[originBytes:]
	values := make([]Value, len(fields))
	for i, field := range fields {
		switch field.Kind {
		case Int64:
			var number int64
			number, key, err = keys.CutInt64(key)
			values[i] = ValueOf(number)
		case String:
			var text string
			text, key, err = keys.CutString(key)
			if !utf8.ValidString(text) {
				return nil, ErrBadToken
			}
			values[i] = ValueOf(text)
		}
		if err != nil {
			return nil, ErrBadToken
		}
	}
	if len(key) > 0 {
		return nil, ErrBadToken
	}
	return values, nil
}
