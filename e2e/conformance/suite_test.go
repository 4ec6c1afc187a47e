package conformance

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

// The suite has a case for each promise of docstore. Each is named after its promise and runs on a fresh store. Every engine has to
// pass it.

// suiteSettings reduce the suite for an engine that is slow to test.
type suiteSettings struct {
	// programs is how many random programs run against the model; 0 means 100. The flag -rapid.checks overrides it.
	programs int
	// many is the number of documents in the cases with many documents; 0 means 2500.
	many int
	// deleted is the number of documents of which DeleteAll deletes a range; 0 means many. It should be several of the
	// engine's chunks.
	deleted int
	// isShort leaves out the groups of cases in which the engines share most of their code, and those with much data.
	isShort bool
	// leftOut names cases that the server behind an engine is known to fail.
	leftOut []string
}

// runSuite runs the suite. open returns an engine on an empty store and closes it at the end of the test.
func runSuite(t *testing.T, settings suiteSettings, open func(t *testing.T) docstore.Engine) {
	settings.programs, settings.many = cmp.Or(settings.programs, 100), cmp.Or(settings.many, 2500)
	settings.deleted = cmp.Or(settings.deleted, settings.many)
	groups := [][]testCase{orderCases(), sparseCases(), changesCases(), tombstoneCases(), placedCases(settings)}
	if !settings.isShort {
		groups = append(groups,
			readCases(), duplicateCases(), createCases(), refusalCases(), updateCases(), changeCases(), modifyCases(), manyCases(),
			pageCases(), budgetCases(), massCases(settings), contextCases(), openCases(), inspectionCases(), raceCases(), modelCases(settings))
	}
	for _, c := range slices.Concat(groups...) {
		t.Run(c.name, func(t *testing.T) {
			if slices.Contains(settings.leftOut, c.name) {
				t.Skip("SKIPPED: the server behind the engine fails this case")
			}
			c.run(t, open(t))
		})
	}
}

// testCase is a promise and its test.
type testCase struct {
	name string
	run  func(t *testing.T, engine docstore.Engine)
}

// runReopening runs cases that close a store and open it again. create makes an empty store and returns a function that opens it.
// The case closes the engine.
func runReopening(t *testing.T, cases []reopeningCase, create func(t *testing.T) (open func(t *testing.T) docstore.Engine)) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, create(t)) })
	}
}

// place is the document type of most cases.
type place struct {
	ID    int64  `bson:"_id"`
	Owner int64  `bson:"owner"`
	Title string `bson:"title"`
	Code  string `bson:"code"`
	Slot  int64  `bson:"slot"`
	Note  string `bson:"note"`
	Seen  int64  `bson:"seen"`
	// Flag is missing in the stored document if it is 0.
	Flag int64 `bson:"flag,omitempty"`
}

func placeSpec() docstore.Spec {
	return docstore.Spec{Name: "places", ID: docstore.Int64, Indexes: []docstore.Index{
		byOwner().Declare(), byTitle().Declare(), byOwnerTitle().Declare(), byCode().Declare(), byOwnerSlot().Declare(), byFlag().Declare(),
	}}
}

func byOwner() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "by_owner", A: "owner"} }

func byFlag() docstore.Index1[int64] {
	return docstore.Index1[int64]{Name: "flag", A: "flag", Sparse: true}
}

func byTitle() docstore.Index1[string] { return docstore.Index1[string]{Name: "by_title", A: "title"} }

func byOwnerTitle() docstore.Index2[int64, string] {
	return docstore.Index2[int64, string]{Name: "by_owner_title", A: "owner", B: "title"}
}

func byCode() docstore.Index1[string] {
	return docstore.Index1[string]{Name: "code", A: "code", Unique: true}
}

func byOwnerSlot() docstore.Index2[int64, int64] {
	return docstore.Index2[int64, int64]{Name: "owner_slot", A: "owner", B: "slot", Unique: true}
}

// word is a document with a string id.
type word struct {
	ID    string `bson:"_id"`
	Group int64  `bson:"group"`
	Text  string `bson:"text"`
}

func wordSpec() docstore.Spec {
	return docstore.Spec{Name: "words", ID: docstore.String, Indexes: []docstore.Index{byText().Declare(), byGroupText().Declare()}}
}

func byText() docstore.Index1[string] { return docstore.Index1[string]{Name: "by_text", A: "text"} }

func byGroupText() docstore.Index2[int64, string] {
	return docstore.Index2[int64, string]{Name: "by_group_text", A: "group", B: "text"}
}

// places is a collection of places.
type places = docstore.Collection[int64, place]

func openPlaces(t *testing.T, engine docstore.Engine) *places {
	t.Helper()
	return openAs[place](t, engine, placeSpec())
}

func openWords(t *testing.T, engine docstore.Engine) *docstore.Collection[string, word] {
	t.Helper()
	c, err := docstore.Open[string, word](t.Context(), engine, wordSpec())
	must(t, err)
	return c
}

// openAs opens a collection with integer ids.
func openAs[T any](t *testing.T, engine docstore.Engine, spec docstore.Spec) *docstore.Collection[int64, T] {
	t.Helper()
	c, err := docstore.Open[int64, T](t.Context(), engine, spec)
	must(t, err)
	return c
}

func openTable(t *testing.T, engine docstore.Engine, spec docstore.Spec) docstore.Table {
	t.Helper()
	table, err := engine.Open(t.Context(), spec)
	must(t, err)
	return table
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

func wantDuplicate(t *testing.T, got error, index string) {
	t.Helper()
	var duplicate *docstore.DuplicateError
	if !errors.As(got, &duplicate) || duplicate.Index != index {
		t.Fatalf("got error %v, want a duplicate in %q", got, index)
	}
}

// wantPlain checks that an error is a plain one, not one that callers distinguish.
func wantPlain(t *testing.T, got error) {
	t.Helper()
	var duplicate *docstore.DuplicateError
	if got == nil || errors.As(got, &duplicate) {
		t.Fatalf("got error %v, want a plain one", got)
	}
	for _, special := range []error{
		docstore.ErrNotFound, docstore.ErrConflict, docstore.ErrBadToken, docstore.ErrUnavailable,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(got, special) {
			t.Fatalf("got error %v, want a plain one", got)
		}
	}
}
