package conformance

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// stored encodes a place like Collection.
func stored(t *testing.T, p place, revision int64) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(struct {
		Place    place `bson:",inline"`
		Revision int64 `bson:"_rev"`
	}{p, revision})
	must(t, err)
	return raw
}

// setting returns the change that sets fields of a document.
func setting(t failer, id, revision int64, fields ...bson.E) docstore.Change {
	t.Helper()
	change := docstore.Change{ID: number(id), Revision: revision}
	for _, field := range fields {
		kind, value, err := bson.MarshalValue(field.Value)
		if err != nil {
			t.Fatal(err)
		}
		change.Set = append(change.Set, docstore.Assignment{Path: field.Key, Value: bson.RawValue{Type: kind, Value: value}})
	}
	return change
}

func changeFails(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	refusal := errors.New("not now")
	_, err := c.Update(t.Context(), int64(1), func(p *place) error {
		p.Note = "changed"
		return refusal
	})
	if err != refusal { //nolint:errorlint // must be the same error, not wrapped
		t.Fatalf("got error %v", err)
	}
	wantContents(t, c, []place{somePlace(1)})
}

func changedID(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlaces(1, 2)...)
	_, err := c.Update(t.Context(), 1, func(p *place) error { p.ID = 2; return nil })
	wantPlain(t, err)
	wantPlain(t, c.UpdateMany(t.Context(), []int64{1}, func(p *place) bool { p.ID = 3; return true }))
	wantContents(t, c, somePlaces(1, 2))
}

func changeRunsAgain(t *testing.T, engine docstore.Engine) {
	c := placesWith(t, engine, somePlace(1))
	runs := 0
	got := updated(t, c, 1, func(p *place) {
		if runs++; runs <= 3 {
			updated(t, c, 1, func(p *place) { p.Seen++ })
		}
		p.Seen += 100
	})
	wantEqual(t, "runs", runs, 4)
	wantEqual(t, "seen", got.Seen, int64(103))
	revision, err := docstore.RevisionOf(rawOf(t, openTable(t, engine, placeSpec()), 1))
	must(t, err)
	wantEqual(t, "revision", revision, int64(5))
	wantContents(t, c, []place{got})
}

// updateOf makes a change that returns nothing.
func updateOf(t *testing.T, table docstore.Table, change docstore.Change) error {
	t.Helper()
	before, err := table.Update(t.Context(), change)
	if before != nil {
		t.Errorf("a change that asks for no fields returned %v", before)
	}
	return err
}

// wordyKey is for engines that parse the name of the index from an error message. The
// message also contains the key, which is user data.
func wordyKey(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	p := somePlace(1)
	p.Code = `x index: owner_slot dup key: { : 1 } UNIQUE constraint failed: index 'places_owner_slot'`
	must(t, c.Insert(t.Context(), p))
	q := somePlace(2)
	q.Code = p.Code
	wantDuplicate(t, c.Insert(t.Context(), q), "code")
	must(t, c.Insert(t.Context(), somePlace(2)))
	_, err := c.Update(t.Context(), int64(2), func(q *place) error { q.Code = p.Code; return nil })
	wantDuplicate(t, err, "code")
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
	errs := refusals(t, 2, c.Insert(t.Context(), tooLarge, somePlace(3)))
	wantPlain(t, errs[0])
	must(t, errs[1])
	_, err := c.Update(t.Context(), int64(3), func(p *place) error { p.Note = tooLarge.Note; return nil })
	wantPlain(t, err)
	wantContents(t, c, []place{somePlace(3)})

	must(t, c.Insert(t.Context(), largest))
	got := documentOf(t, c, int64(1))
	if got != largest {
		t.Error("the largest document is read back with other contents")
	}
}
