// Package storetest is the conformance suite of docstore engines. It has a case for
// each promise of the port. Each case is named after its promise and runs on a fresh store.
// It also has stores that fail, for tests of the port's users: Hooked and Mortal.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/longform"
)

// Settings reduce the suite for an engine that is slow to test.
type Settings struct {
	// Programs is how many random programs run against the model; 0 means 100. The flag
	// -rapid.checks overrides it.
	Programs int
	// Many is the number of documents in the cases with many documents; 0 means 2500.
	Many int
	// Deleted is the number of documents of which DeleteAll deletes a range; 0 means Many.
	// It should be several of the engine's chunks.
	Deleted int
	// IsShort leaves out the groups of cases in which the engines share most of their code, and those
	// with much data.
	IsShort bool
	// LeftOut names cases that the server behind an engine is known to fail.
	LeftOut []string
}

func (s Settings) withDefaults() Settings {
	if s.Programs == 0 {
		s.Programs = 100
	}
	if s.Many == 0 {
		s.Many = 2500
	}
	if s.Deleted == 0 {
		s.Deleted = s.Many
	}
	return s
}

// Run runs the suite. open returns an engine on an empty store and closes it at the end
// of the test.
func Run(t *testing.T, open func(t *testing.T) docstore.Engine) {
	RunWith(t, Settings{}, open)
}

// RunWith is Run with settings.
func RunWith(t *testing.T, settings Settings, open func(t *testing.T) docstore.Engine) {
	settings = settings.withDefaults()
	groups := [][]testCase{orderCases(), sparseCases(), changesCases(), tombstoneCases(), placedCases(settings)}
	if !settings.IsShort {
		groups = append(groups,
			readCases(), rangeCases(), duplicateCases(), createCases(), writeCases(), refusalCases(), updateCases(), changeCases(), raiseCases(), advanceCases(), manyCases(),
			pageCases(), budgetCases(), massCases(settings), contextCases(), openCases(), inspectionCases(), raceCases(), modelCases(settings))
	}
	for _, group := range groups {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) {
				if slices.Contains(settings.LeftOut, c.name) {
					t.Skip("SKIPPED: the server behind the engine fails this case")
				}
				c.run(t, open(t))
			})
		}
	}
}

// testCase is a promise and its test.
type testCase struct {
	name string
	run  func(t *testing.T, engine docstore.Engine)
}

// RunReopening runs the cases that close a store and open it again. create makes an empty
// store and returns a function that opens it. The case closes the engine.
func RunReopening(t *testing.T, create func(t *testing.T) (open func(t *testing.T) docstore.Engine)) {
	runReopening(t, create, reopeningCases())
}

// RunRebuilding runs those for an engine that rebuilds an index whose declaration has changed.
func RunRebuilding(t *testing.T, create func(t *testing.T) (open func(t *testing.T) docstore.Engine)) {
	runReopening(t, create, rebuildingCases())
}

func runReopening(t *testing.T, create func(t *testing.T) (open func(t *testing.T) docstore.Engine), cases []reopeningCase) {
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

// The variables that say how many seeds a test of seeds tries, and from which one on.
const (
	seedsVariable     = "WAYBOOK_SEEDS"
	firstSeedVariable = "WAYBOOK_FIRST_SEED"
)

// Seeds runs a test with one seed after the other, until it fails with one.
func Seeds(t *testing.T, test func(t *testing.T, seed uint64)) {
	t.Helper()
	SomeSeeds(t, longform.Number(20, 100), test)
}

// SomeSeeds is Seeds with that many seeds, unless the environment says how many.
func SomeSeeds(t *testing.T, number int, test func(t *testing.T, seed uint64)) {
	t.Helper()
	first, count := numberIn(t, firstSeedVariable, 0), numberIn(t, seedsVariable, uint64(number))
	for seed := range count {
		seed += first
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { test(t, seed) }) {
			t.Fatalf("%s=%d %s=1 repeats it", firstSeedVariable, seed, seedsVariable)
		}
	}
}

// numberIn returns the number in a variable of the environment.
func numberIn(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text, isSet := os.LookupEnv(variable)
	if !isSet {
		return otherwise
	}
	number, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return number
}
