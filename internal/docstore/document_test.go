package docstore

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore/keys"
)

// FuzzADocumentThatIsTakenHasAllItsKeys feeds arbitrary bytes, as from a dump, to
// CheckDocument. A document that passes must have every key, of bounded length. Each key
// and each page token made of the document must decode to its values.
func FuzzADocumentThatIsTakenHasAllItsKeys(f *testing.F) {
	spec := Spec{Name: "things", ID: Int64, Indexes: []Index{
		{Name: "by_title", Fields: []Field{{Name: "title", Kind: String}, {Name: "seen", Kind: Int64}}},
	}}
	for _, document := range []bson.D{
		{{Key: "_id", Value: int64(1)}, {Key: "title", Value: "山\x00"}, {Key: "seen", Value: int64(-1)}, {Key: RevisionField, Value: int64(1)}},
		{{Key: "_id", Value: "a"}, {Key: "title", Value: 1}, {Key: RevisionField, Value: int32(1)}},
		{{Key: "_id", Value: int64(1)}, {Key: "_id", Value: int64(2)}, {Key: "title", Value: bson.A{}}},
		{},
	} {
		raw, err := bson.Marshal(document)
		must(f, err)
		f.Add(raw)
	}
	fields, err := spec.FieldsOf("by_title")
	must(f, err)
	f.Fuzz(func(t *testing.T, raw []byte) {
		document := bson.Raw(raw)
		if document.Validate() != nil || spec.CheckDocument(document) != nil {
			return
		}
		var want []Value
		for _, field := range fields {
			value, err := field.Value(document)
			must(t, err)
			want = append(want, value)
		}
		key, err := AppendKey(nil, fields, document)
		must(t, err)
		if again := AppendValues(nil, want...); string(again) != string(key) || len(key) > 2*MaxKeyBytes+32 {
			t.Fatalf("%v: AppendKey returned %x, AppendValues %x", want, key, again)
		}
		title, rest, err := keys.CutString(key)
		if err != nil || title != want[0].Text() {
			t.Fatalf("the key decodes to title %q, %v, want %q", title, err, want[0])
		}
		for _, number := range want[1:] {
			var got int64
			if got, rest, err = keys.CutInt64(rest); err != nil || got != number.Int64() {
				t.Fatalf("got %d, %v, want %v", got, err, number)
			}
		}
		token, err := tokenOf(document, []byte("0000"), fields)
		must(t, err)
		if values, err := parseToken(token, []byte("0000"), fields); err != nil || values[0] != want[0] || values[1] != want[1] || values[2] != want[2] {
			t.Fatalf("the token of %v decodes to %v, %v", want, values, err)
		}
	})
}
