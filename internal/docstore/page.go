package docstore

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/docstore/keys"
)

// Query asks for a page of documents in the order of an index.
type Query struct {
	// Where selects the documents.
	Where Where
	// Of are parameters of the list that Where does not have. A token is good for the same ones
	// only.
	Of string
	// Token is the page token: Page.Next of the previous page, or empty for the first.
	Token string
	// After is that of Scan, for a page without a token.
	After []Value
	// Descending reverses the order of the index.
	Descending bool
	// Limit is the maximum number of documents of a page, 1 or more. Most is that of all pages of
	// Batches; 0 means no limit.
	Limit, Most int
	// MaxBytes bounds their total size; 0 means MaxPageBytes. A page of a single document may be
	// larger.
	MaxBytes int
	// As says which writes the page shows: Present, Durable or Listed.
	As Consistency
	// Arena has the documents of the page and their texts; nil if the caller keeps them.
	Arena *arena.Arena
}

// MaxPageBytes bounds the total size of the documents of a page that ends up in a reply. Many
// replies wait in memory for clients that read slowly (docs/decisions/limits.md).
const MaxPageBytes = 128 << 10

// MaxBatchBytes bounds the total size of the documents that other services, followers and tools
// read at a time, so that they fit into a message.
const MaxBatchBytes = 1 << 20

// Page is a page of documents.
type Page[T any] struct {
	Documents []T
	// Next is the token of the next page; empty if this is the last page.
	Next string
}

// page reads a page of documents, for which room makes place, and returns the token of the next
// one.
func (c *core) page(ctx context.Context, query Query, room func(int) reflect.Value) (next string, err error) {
	fields, isDeclared := c.sorts[query.Where.index]
	if !isDeclared {
		_, err := c.spec.FieldsOf(query.Where.index)
		return "", c.wrap("page", err)
	}
	bounds, err := query.Where.Resolve(fields)
	if err != nil {
		return "", c.wrap("page", err)
	}
	origin := c.origin(query)
	scan := Scan{Where: query.Where, After: query.After, As: query.As, Descending: query.Descending,
		Limit: query.Limit, MaxBytes: cmp.Or(query.MaxBytes, MaxPageBytes)}
	if query.Token != "" {
		if scan.After, err = parseToken(query.Token, origin, bounds.Rest); err != nil {
			return "", c.wrap("page", err)
		}
	}
	if c.fields != nil {
		scan.Fields = c.fields[:len(c.fields):len(c.fields)]
		for _, field := range bounds.Rest {
			scan.Fields = append(scan.Fields, field.Name)
		}
	}
	err = c.read(ctx, scan, query.Arena, room, func(last bson.Raw) (err error) {
		next, err = tokenOf(last, origin, bounds.Rest)
		return err
	})
	return next, c.wrap("page", err)
}

// originBytes is the length of the hash that binds a token to its query.
const originBytes = 4

// origin returns a hash of the collection and of the query's selection. A token that was
// issued for another query has another origin and is refused.
func (c *core) origin(query Query) []byte {
	where := query.Where
	walk := AppendValues([]byte(c.spec.Name+"\x00"+where.index+"\x00"+query.Of+"\x00"), where.equal...)
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

// EncodeToken returns the text of a token, which ends with a checksum
// (docs/decisions/security.md).
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
