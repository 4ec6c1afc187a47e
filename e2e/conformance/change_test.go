package conformance

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

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

func unknownFieldsSurvive(t *testing.T, engine docstore.Engine) {
	newer, older := openAs[newDocument](t, engine, versionedSpec()), openAs[oldDocument](t, engine, versionedSpec())
	must(t, newer.Insert(t.Context(), someNewDocument()))
	for name, change := range map[string]struct {
		older func(*oldDocument)
		want  func(*newDocument)
	}{
		"fields": {func(d *oldDocument) {
			d.Title, d.Part.Name, d.Part.Inner.Size, d.Maybe.Name, d.Parts[0].Name, d.Parts[2].Inner.Size = "changed", "a", 2, "b", "c", 3
		}, func(d *newDocument) {
			d.Title, d.Part.Name, d.Part.Inner.Size, d.Maybe.Name, d.Parts[0].Name, d.Parts[2].Inner.Size = "changed", "a", 2, "b", "c", 3
		}},
		"a field that becomes empty": {func(d *oldDocument) { d.Maybe = nil }, func(d *newDocument) { d.Maybe = nil }},
		"a longer array": {
			func(d *oldDocument) { d.Parts = append(d.Parts, oldPart{Name: "x"}) },
			func(d *newDocument) {
				d.Parts = []newPart{{Name: "first", Inner: newInner{Size: 1}}, {Name: "second", Inner: newInner{Size: 1}}, {Name: "third", Inner: newInner{Size: 1}}, {Name: "x"}}
			},
		},
		"a shorter array": {func(d *oldDocument) { d.Parts = []oldPart{{Name: "x"}} }, func(d *newDocument) { d.Parts = []newPart{{Name: "x"}} }},
		"an empty array":  {func(d *oldDocument) { d.Parts = []oldPart{} }, func(d *newDocument) { d.Parts = []newPart{} }},
		"no array":        {func(d *oldDocument) { d.Parts = nil }, func(d *newDocument) { d.Parts = nil }},
	} {
		for _, update := range []func(){
			func() { updated(t, older, 1, func(d *oldDocument) { change.older(d) }) },
			func() {
				must(t, older.UpdateMany(t.Context(), []int64{1}, func(d *oldDocument) bool { change.older(d); return true }))
			},
		} {
			want := someNewDocument()
			updated(t, newer, 1, func(d *newDocument) { *d = want }) // also brings back what was removed
			update()
			change.want(&want)
			wantEqual(t, name, documentOf(t, newer, 1), want)
		}
	}
	must(t, older.Insert(t.Context(), oldDocument{ID: 2, Title: "t", Part: oldPart{Name: "p"}, Parts: []oldPart{{Name: "q"}}}))
	updated(t, newer, 2, func(d *newDocument) { d.Views++; d.Part.Inner.Depth, d.Parts[0].Color = 2, "red" })
	wantEqual(t, "with fields that it lacked", documentOf(t, newer, 2), newDocument{
		ID: 2, Title: "t", Views: 1, Part: newPart{Name: "p", Inner: newInner{Depth: 2}}, Parts: []newPart{{Name: "q", Color: "red"}},
	})
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
