package docstoretest

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

func refusalCases() []testCase {
	return []testCase{
		{"a document that does not fit the declaration is refused, others are stored", misfitsRefused},
		{"a change that does not fit the declaration is refused", misfitChanges},
		{"a key of MaxKeyBytes is stored and a longer one is refused", longKeys},
		{"a document of MaxDocumentBytes is stored and a larger one is refused", largeDocuments},
	}
}

// misfits are documents that no engine may store.
func misfits() map[string]bson.D {
	good := func(change bson.E) bson.D {
		document := bson.D{
			{Key: "_id", Value: int64(50)},
			{Key: "owner", Value: int64(1)}, {Key: "title", Value: "t"}, {Key: "code", Value: "fifty"},
			{Key: "slot", Value: int64(50)}, {Key: docstore.RevisionField, Value: int64(2)},
		}
		kept := document[:0]
		for _, element := range document {
			if element.Key == change.Key {
				element = change
			}
			if element.Value != nil {
				kept = append(kept, element)
			}
		}
		return kept
	}
	return map[string]bson.D{
		"no id":                   good(bson.E{Key: "_id"}),
		"an id of another kind":   good(bson.E{Key: "_id", Value: "50"}),
		"a small integer as id":   good(bson.E{Key: "_id", Value: int32(50)}),
		"no indexed field":        good(bson.E{Key: "slot"}),
		"a null":                  good(bson.E{Key: "title", Value: bson.Null{}}),
		"a field of another kind": good(bson.E{Key: "owner", Value: 1.5}),
		"a text for an integer":   good(bson.E{Key: "owner", Value: "1"}),
		"an integer for a text":   good(bson.E{Key: "code", Value: int64(1)}),
		"a text not in UTF-8":     good(bson.E{Key: "title", Value: "\xff"}),
		"no revision":             good(bson.E{Key: docstore.RevisionField}),
	}
}

func misfitsRefused(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	table := openTable(t, engine, placeSpec())
	var documents []bson.Raw
	var names []string
	for name, misfit := range misfits() {
		raw, err := bson.Marshal(misfit)
		must(t, err)
		documents, names = append(documents, raw), append(names, name)
	}
	documents = append(documents, stored(t, somePlace(1), 1))
	errs, err := table.Insert(t.Context(), documents)
	must(t, err)
	for i, name := range names {
		if errs[i] == nil {
			t.Errorf("a document with %s was stored", name)
			continue
		}
		wantPlain(t, errs[i])
	}
	must(t, errs[len(names)])
	wantContents(t, c, []place{somePlace(1)})
}

func misfitChanges(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	table := openTable(t, engine, placeSpec())
	must(t, c.Insert(t.Context(), somePlace(50)))
	removal := setting(t, 50, 1)
	removal.Unset = []string{"slot"}
	for name, misfit := range map[string]docstore.Change{
		"no indexed field":        removal,
		"a null":                  setting(t, 50, 1, bson.E{Key: "title", Value: bson.Null{}}),
		"a field of another kind": setting(t, 50, 1, bson.E{Key: "owner", Value: 1.5}),
		"a text for an integer":   setting(t, 50, 1, bson.E{Key: "owner", Value: "1"}),
		"an integer for a text":   setting(t, 50, 1, bson.E{Key: "note", Value: "changed"}, bson.E{Key: "code", Value: int64(1)}),
		"a text not in UTF-8":     setting(t, 50, 1, bson.E{Key: "title", Value: "\xff"}),
		"a text that is too long": setting(t, 50, 1, bson.E{Key: "title", Value: strings.Repeat("x", docstore.MaxKeyBytes+1)}),
	} {
		if err := updateOf(t, table, misfit); err == nil {
			t.Errorf("a change to a document with %s was made", name)
		} else {
			wantPlain(t, err)
		}
		if made, err := table.UpdateMany(t.Context(), []docstore.Change{misfit}); err == nil || made != 0 {
			t.Errorf("of changes, %d to a document with %s were made; %v", made, name, err)
		} else {
			wantPlain(t, err)
		}
	}
	wantContents(t, c, []place{somePlace(50)})
}

func longKeys(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	longest := somePlace(1)
	longest.Code = strings.Repeat("x", docstore.MaxKeyBytes)
	longest.Title = strings.Repeat("山", docstore.MaxKeyBytes/3)
	must(t, c.Insert(t.Context(), longest))
	tooLong := somePlace(2)
	tooLong.Code = longest.Code + "x"
	wantPlain(t, c.Insert(t.Context(), tooLong))
	_, err := c.Update(t.Context(), int64(1), func(p *place) error { p.Title += "山"; return nil })
	wantPlain(t, err)
	wantContents(t, c, []place{longest})

	words := openWords(t, engine)
	half := strings.Repeat("y", docstore.MaxKeyBytes/2)
	must(t, words.Insert(t.Context(), word{ID: half, Text: half}))
	wantPlain(t, words.Insert(t.Context(), word{ID: half + "y", Text: half}))
	_, err = words.Update(t.Context(), half, func(w *word) error { w.Text += "y"; return nil })
	wantPlain(t, err)
	wantEqual(t, "words", walk(t, words, docstore.Query{Where: byText().All(), Limit: 2}), []word{{ID: half, Text: half}})
}

func largeDocuments(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	largest := somePlace(1)
	overhead := len(stored(t, largest, 1)) - len(largest.Note)
	largest.Note = strings.Repeat("n", docstore.MaxDocumentBytes-overhead)
	tooLarge := somePlace(2)
	tooLarge.Note = largest.Note + "n"
	errs, err := c.InsertMany(t.Context(), []place{tooLarge, somePlace(3)})
	must(t, err)
	wantPlain(t, errs[0])
	must(t, errs[1])
	_, err = c.Update(t.Context(), int64(3), func(p *place) error { p.Note = tooLarge.Note; return nil })
	wantPlain(t, err)
	wantContents(t, c, []place{somePlace(3)})

	must(t, c.Insert(t.Context(), largest))
	got := documentOf(t, c, int64(1))
	if got != largest {
		t.Error("the largest document is read back with other contents")
	}
}
