package conformance

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func changeCases() []testCase {
	return []testCase{
		{"an update leaves the fields alone that the program's type does not have", unknownFieldsSurvive},
		{"an update of nothing writes nothing", emptyUpdate},
		{"a field with omitempty that becomes empty is removed, and comes back", omittedField},
		{"an array that changes its length is replaced", resizedArray},
		{"a change sets, removes and adds to fields inside documents and arrays", nestedChange},
		{"an update changes a document with fields that it lacks", lackingFields},
	}
}

// The new version of a program has fields that its old version does not have: at the top,
// in an embedded document and in the documents of an array.
type (
	newDocument struct {
		ID    int64     `bson:"_id"`
		Title string    `bson:"title"`
		Views int64     `bson:"views"`
		Part  newPart   `bson:"part"`
		Maybe *newPart  `bson:"maybe,omitempty"`
		Parts []newPart `bson:"parts"`
	}
	newPart struct {
		Name  string   `bson:"name"`
		Color string   `bson:"color"`
		Inner newInner `bson:"inner"`
	}
	newInner struct {
		Size  int64 `bson:"size"`
		Depth int64 `bson:"depth"`
	}
	oldDocument struct {
		ID    int64     `bson:"_id"`
		Title string    `bson:"title"`
		Part  oldPart   `bson:"part"`
		Maybe *oldPart  `bson:"maybe,omitempty"`
		Parts []oldPart `bson:"parts"`
	}
	oldPart struct {
		Name  string   `bson:"name"`
		Inner oldInner `bson:"inner"`
	}
	oldInner struct {
		Size int64 `bson:"size"`
	}
)

func versionedSpec() docstore.Spec {
	return docstore.Spec{Name: "versioned", ID: docstore.Int64, Indexes: []docstore.Index{byTitle().Declare()}}
}

func someNewPart(name string) newPart {
	return newPart{Name: name, Color: "color of " + name, Inner: newInner{Size: 1, Depth: 7}}
}

func someNewDocument() newDocument {
	maybe := someNewPart("maybe")
	return newDocument{
		ID: 1, Title: "title", Views: 7, Part: someNewPart("part"), Maybe: &maybe,
		Parts: []newPart{someNewPart("first"), someNewPart("second"), someNewPart("third")},
	}
}

// openVersions opens a collection as both versions do, with the document of someNewDocument.
func openVersions(t *testing.T, engine docstore.Engine) (
	newer *docstore.Collection[int64, newDocument], older *docstore.Collection[int64, oldDocument],
) {
	t.Helper()
	newer, older = openAs[newDocument](t, engine, versionedSpec()), openAs[oldDocument](t, engine, versionedSpec())
	must(t, newer.Insert(t.Context(), someNewDocument()))
	return newer, older
}

func wantNewer(t *testing.T, newer *docstore.Collection[int64, newDocument], want newDocument) {
	t.Helper()
	wantEqual(t, "document", documentOf(t, newer, 1), want)
}

func unknownFieldsSurvive(t *testing.T, engine docstore.Engine) {
	newer, older := openVersions(t, engine)
	want := someNewDocument()
	want.Title, want.Part.Name, want.Part.Inner.Size = "changed", "a", 2
	want.Maybe.Name, want.Parts[0].Name, want.Parts[2].Inner.Size = "b", "c", 3
	change := func(d *oldDocument) {
		d.Title, d.Part.Name, d.Part.Inner.Size = "changed", "a", 2
		d.Maybe.Name, d.Parts[0].Name, d.Parts[2].Inner.Size = "b", "c", 3
	}
	updated(t, older, 1, func(d *oldDocument) { change(d) })
	wantNewer(t, newer, want)

	updated(t, newer, 1, func(d *newDocument) { *d = someNewDocument() })
	wantNewer(t, newer, someNewDocument())
	must(t, older.UpdateMany(t.Context(), []int64{1}, func(d *oldDocument) bool { change(d); return true }))
	wantNewer(t, newer, want)
}

func emptyUpdate(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	table := openTable(t, engine, placeSpec())
	got, err := c.Update(t.Context(), 1, func(*place) error { return nil })
	must(t, err)
	wantEqual(t, "returned", got, somePlace(1))
	wantStored(t, table, 1, stored(t, somePlace(1), 1))
	_, err = c.Update(t.Context(), 2, func(*place) error { return nil })
	wantError(t, err, docstore.ErrNotFound)
}

// wantStored checks a document byte for byte.
func wantStored(t *testing.T, table docstore.Table, id int64, want bson.Raw) {
	t.Helper()
	got := rawOf(t, table, id)
	wantEqual(t, "stored document", got.String(), want.String())
}

func omittedField(t *testing.T, engine docstore.Engine) {
	newer, older := openVersions(t, engine)
	updated(t, older, 1, func(d *oldDocument) { d.Maybe = nil })
	want := someNewDocument()
	want.Maybe = nil
	wantNewer(t, newer, want)
	raw := rawOf(t, openTable(t, engine, versionedSpec()), 1)
	if _, err := raw.LookupErr("maybe"); err == nil {
		t.Error("the field is still stored")
	}
	updated(t, older, 1, func(d *oldDocument) { d.Maybe = &oldPart{Name: "again"} })
	want.Maybe = &newPart{Name: "again"}
	wantNewer(t, newer, want)
}

func resizedArray(t *testing.T, engine docstore.Engine) {
	newer, older := openVersions(t, engine)
	want := someNewDocument()
	for _, names := range [][]string{{"x", "y", "z", "w"}, {"x"}, {}, {"x", "y"}} {
		updated(t, older, 1, func(d *oldDocument) {
			d.Parts = []oldPart{}
			for _, name := range names {
				d.Parts = append(d.Parts, oldPart{Name: name})
			}
		})
		want.Parts = []newPart{}
		for _, name := range names {
			want.Parts = append(want.Parts, newPart{Name: name})
		}
		wantNewer(t, newer, want)
	}
	updated(t, older, 1, func(d *oldDocument) { d.Parts = nil })
	want.Parts = nil
	wantNewer(t, newer, want)
}

func nestedChange(t *testing.T, engine docstore.Engine) {
	newer, _ := openVersions(t, engine)
	table := openTable(t, engine, versionedSpec())
	change := setting(t, 1, 1, bson.E{Key: "part.inner.size", Value: int64(5)}, bson.E{Key: "parts.1.name", Value: "set"})
	change.Unset = []string{"part.color", "parts.0.inner.depth", "nowhere", "part.nowhere"}
	change.Add = []docstore.Amount{{Field: "views", By: -10}, {Field: "likes", By: 3}}
	must(t, updateOf(t, table, change))
	want := someNewDocument()
	want.Part.Inner.Size, want.Part.Color, want.Views = 5, "", -3
	want.Parts[1].Name, want.Parts[0].Inner.Depth = "set", 0
	wantNewer(t, newer, want)
	raw := rawOf(t, table, 1)
	wantEqual(t, "created by an addition", raw.Lookup("likes").Int64(), int64(3))
	if _, err := raw.LookupErr("part", "color"); err == nil {
		t.Error("the removed field is still stored")
	}
}

func lackingFields(t *testing.T, engine docstore.Engine) {
	older := openAs[oldDocument](t, engine, versionedSpec())
	newer := openAs[newDocument](t, engine, versionedSpec())
	must(t, older.Insert(t.Context(), oldDocument{ID: 1, Title: "t", Part: oldPart{Name: "p"}, Parts: []oldPart{{Name: "q"}}}))
	updated(t, newer, 1, func(d *newDocument) {
		d.Views++
		d.Part.Inner.Depth, d.Parts[0].Color = 2, "red"
	})
	wantNewer(t, newer, newDocument{
		ID: 1, Title: "t", Views: 1, Part: newPart{Name: "p", Inner: newInner{Depth: 2}}, Parts: []newPart{{Name: "q", Color: "red"}},
	})
	wantEqual(t, "for the old version", documentOf(t, older, 1), oldDocument{ID: 1, Title: "t", Part: oldPart{Name: "p"}, Parts: []oldPart{{Name: "q"}}})
}
