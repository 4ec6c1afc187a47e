package conformance

import (
	"errors"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

type reopeningCase struct {
	name string
	run  func(t *testing.T, open func(t *testing.T) docstore.Engine)
}

func reopeningCases() []reopeningCase {
	return []reopeningCase{
		{"written documents exist after Close and Open", staysThere},
		{"a new index is built from the stored documents", buildsNew},
		{"an index that is declared again is complete", comesBackWhole},
		{"a unique index that documents violate fails Open and damages nothing", doesNotFit},
		{"an index on a field that documents lack fails Open and damages nothing", lacksField},
		{"Inspect reports missing and undeclared indexes, and changes nothing", inspectsOtherwise},
		{"another kind of id fails Open and Inspect", otherID},
	}
}

func rebuildingCases() []reopeningCase {
	return []reopeningCase{
		{"an index whose declaration changed is rebuilt", buildsChanged},
		{"an index that becomes sparse, or is no longer, is rebuilt", changesSparse},
		{"an index that becomes unique refuses duplicates, and accepts them when it no longer is", changesUnique},
	}
}

// reopened closes a store and opens it again.
func reopened(t *testing.T, engine docstore.Engine, open func(t *testing.T) docstore.Engine) docstore.Engine {
	t.Helper()
	must(t, engine.Close())
	return open(t)
}

func staysThere(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	c := placesWith(t, engine, somePlaces(1, 20)...)
	must(t, c.Delete(t.Context(), int64(7)))
	changed := updated(t, c, 8, func(p *place) { p.Code, p.Owner = "changed", 9 })
	want := append(append(somePlaces(1, 6), changed), somePlaces(9, 20)...)
	engine = reopened(t, engine, open)
	c = openPlaces(t, engine)
	wantContents(t, c, want)
	must(t, c.Insert(t.Context(), somePlace(7)))
	wantContents(t, c, append(want, somePlace(7)))
	must(t, engine.Close())
}

// with returns the spec of places with only the named indexes.
func with(names ...string) docstore.Spec {
	spec := placeSpec()
	spec.Indexes = slices.DeleteFunc(spec.Indexes, func(ix docstore.Index) bool { return !slices.Contains(names, ix.Name) })
	return spec
}

func buildsNew(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openAs[place](t, engine, with()), somePlaces(-20, 20))
	engine = reopened(t, engine, open)
	c := openPlaces(t, engine)
	wantContents(t, c, somePlaces(-20, 20))
	duplicate := somePlace(21)
	duplicate.Code = "code 3"
	wantDuplicate(t, c.Insert(t.Context(), duplicate), "code")
	must(t, engine.Close())
}

func buildsChanged(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	spec := placeSpec()
	spec.Indexes[1].Fields, spec.Indexes[2].Fields = spec.Indexes[2].Fields, spec.Indexes[1].Fields
	insertAll(t, openAs[place](t, engine, spec), somePlaces(1, 20))
	engine = reopened(t, engine, open)
	wantContents(t, openPlaces(t, engine), somePlaces(1, 20))
	must(t, engine.Close())
}

func changesSparse(t *testing.T, open func(t *testing.T) docstore.Engine) {
	dense := with("by_owner", "flag")
	dense.Indexes[1].Sparse = false
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 6))
	engine = reopened(t, engine, open)
	_, err := engine.Open(t.Context(), dense)
	wantPlain(t, err) // place 5 lacks the field
	engine = reopened(t, engine, open)
	c := openPlaces(t, engine)
	wantContents(t, c, somePlaces(1, 6))
	must(t, c.Delete(t.Context(), 5))
	engine = reopened(t, engine, open)
	wantEqual(t, "flagged", len(walk(t, openAs[place](t, engine, dense), docstore.Query{Where: byFlag().All(), Limit: 7})), 5)
	engine = reopened(t, engine, open)
	c = openPlaces(t, engine)
	must(t, c.Insert(t.Context(), somePlace(5)))
	wantContents(t, c, somePlaces(1, 6))
	must(t, engine.Close())
}

func comesBackWhole(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 10))
	engine = reopened(t, engine, open)
	c := openAs[place](t, engine, with("by_owner"))
	_, err := c.Find(t.Context(), byCode().Is("code 1"))
	wantPlain(t, err)
	insertAll(t, c, somePlaces(11, 14))
	must(t, c.Delete(t.Context(), int64(2)))
	changed := updated(t, c, 1, func(p *place) { p.Code, p.Title = "changed", "changed" })
	engine = reopened(t, engine, open)
	wantContents(t, openPlaces(t, engine), append(somePlaces(3, 14), changed))
	must(t, engine.Close())
}

func changesUnique(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	spec := placeSpec()
	for i := range spec.Indexes {
		spec.Indexes[i].Unique = false
	}
	insertAll(t, openAs[place](t, engine, spec), somePlaces(1, 5))
	engine = reopened(t, engine, open)
	c := openPlaces(t, engine)
	twin := somePlace(6)
	twin.Code = "code 1"
	wantDuplicate(t, c.Insert(t.Context(), twin), "code")
	wantContents(t, c, somePlaces(1, 5))
	engine = reopened(t, engine, open)
	c = openAs[place](t, engine, spec)
	must(t, c.Insert(t.Context(), twin))
	wantContents(t, c, append(somePlaces(1, 5), twin))
	must(t, engine.Close())
}

func doesNotFit(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	twin := somePlace(6)
	twin.Code = "code 1"
	places := append(somePlaces(1, 5), twin)
	insertAll(t, openAs[place](t, engine, with("by_owner", "by_title")), places)
	engine = reopened(t, engine, open)
	_, err := engine.Open(t.Context(), with("by_owner", "by_title", "code"))
	var duplicate *docstore.DuplicateError
	if err == nil || errors.As(err, &duplicate) && duplicate.Index != "code" {
		t.Fatalf("got error %v", err)
	}
	engine = reopened(t, engine, open)
	c := openAs[place](t, engine, with("by_owner", "by_title"))
	wantEqual(t, "places", walk(t, c, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 4}), places)
	updated(t, c, 6, func(p *place) { p.Code = "code 6" })
	engine = reopened(t, engine, open)
	wantContents(t, openPlaces(t, engine), somePlaces(1, 6))
	must(t, engine.Close())
}

func lacksField(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openAs[place](t, engine, with("by_owner")), somePlaces(1, 5))
	must(t, engine.Close())

	integer := func(name string) []docstore.Field { return []docstore.Field{{Name: name, Kind: docstore.Int64}} }
	for _, index := range []docstore.Index{
		{Name: "extra", Fields: integer("nowhere")}, {Name: "extra", Fields: integer("title")}, {Name: "extra", Fields: integer("title"), Sparse: true},
	} {
		engine = open(t)
		spec := with("by_owner")
		spec.Indexes = append(spec.Indexes, index)
		_, err := engine.Open(t.Context(), spec)
		wantPlain(t, err)
		must(t, engine.Close())
	}

	engine = open(t)
	wantContents(t, openPlaces(t, engine), somePlaces(1, 5))
	must(t, engine.Close())
}

func otherID(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	insertAll(t, openPlaces(t, engine), somePlaces(1, 2))
	engine = reopened(t, engine, open)
	spec := placeSpec()
	spec.ID = docstore.String
	_, err := engine.Open(t.Context(), spec)
	wantPlain(t, err)
	_, err = engine.Inspect(t.Context(), spec)
	wantPlain(t, err)
	must(t, engine.Close())
}
