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
	// programs is how many random programs run against the model; 0 means 200. The flag -rapid.checks overrides it.
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
	settings.programs, settings.many = cmp.Or(settings.programs, 200), cmp.Or(settings.many, 2500)
	settings.deleted = cmp.Or(settings.deleted, settings.many)
	cases := append(changesCases(), differingCases(settings)...)
	if !settings.isShort {
		cases = append(cases, otherCases(settings)...)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if slices.Contains(settings.leftOut, c.name) {
				t.Skip("SKIPPED: the server behind the engine fails this case")
			}
			c.run(t, open(t))
		})
	}
}

// differingCases are those in which engines differ most.
func differingCases(settings suiteSettings) []testCase {
	return []testCase{
		{"a random program has the same effect as on a map", func(t *testing.T, engine docstore.Engine) {
			againstModel(t, engine, settings.programs)
		}},
		{"integers sort by value, and ranges of them compare by value", integersSort},
		{"strings sort by their bytes, and ranges of them compare by bytes", stringsSort},
		{"strings with zero bytes sort by their bytes", zeroBytesSort},
		{"a deletion and an update may require that a field is missing", requiresMissing},
		{"a deleted document is in no read, list or count, and no write changes it", goneForAll},
		{"the id and the keys of a deleted document stay taken, and a deletion may free a key", goneKeepsKeys},
		{"a deletion whose conditions the document does not meet changes nothing", deletesOnCondition},
		{"a tombstone has the id, the next revision and the keys, and nothing else", tombstonesAreBare},
		{"what a version deletes that does not know a field loses that field in the end", deletesUnknown},
		{"a tombstone that is inserted is one", insertsTombstones},
		{"a repeated create of what was deleted is refused as gone", createGone},
		{"a sweep purges what is deleted, and again, as long as calls from before may run", sweepsAgain},
		{"a tombstone goes once followers do not need it and no source can draw its id", sweepsForGood},
		{"a tombstone of an earlier deletion is not forgotten", sweepsTheSame},
		{"tombstones come in the order in which they became due, in pages", tombstonesInOrder},
		{"a collection with tombstones refuses DeleteAll, and one without refuses sweeps", refusesTombstones},
		{"a selection of a sharded collection names a place or says that it asks everywhere", placeNamed},
		{"a document in another place than its place fields name is refused", misplacedRefused},
		{"a text names the place of its document", textNamesPlace},
		{"documents of all places are read, changed and deleted by id", placedByID},
		{"a selection in a place, or by a walked index, finds its documents in order, and a unique index holds in a place", placedSelections},
		{"a document is returned as it was stored", placedBytes},
		{"Highest returns the highest id of a place", highestOfPlace},
		{"Create goes on behind a source that was far ahead of the clock", func(t *testing.T, engine docstore.Engine) {
			createBehind(t, engine, settings.many)
		}},
		{"64 writers with two sources create in one place", createTogether},
	}
}

func otherCases(settings suiteSettings) []testCase {
	return []testCase{
		{"a document is read back as it was stored", comesBack},
		{"an indexed integer of 32 bits is found and sorted by its value", smallIntegers},
		{"a selection, an id, a position or a limit that does not fit is refused", misfitSelections},
		{"the caller may change documents that a table returns", callersOwn},
		{"collections are independent of each other", collectionsApart},
		{"a key may contain the text of an error message", wordyKey},
		{"Create makes the document of a request once, and returns it in its current state", createsOnce},
		{"of many concurrent creates of one key exactly one succeeds", createOneWins},
		{"many concurrent repeats of one request get the same document", createRepeatedAtOnce},
		{"a request repeated while its document is being deleted succeeds", createWhileDeleted},
		{"a request whose document is there at each try and gone after it succeeds in the end", createAfterRivals},
		{"a document that does not fit the declaration is refused, others are stored", misfitsRefused},
		{"a change that does not fit the declaration is refused", misfitChanges},
		{"a key of MaxKeyBytes is stored and a longer one is refused", longKeys},
		{"a document of MaxDocumentBytes is stored and a larger one is refused", largeDocuments},
		{"an error of the change is returned unwrapped and nothing is written", changeFails},
		{"a change must not modify the id", changedID},
		{"a change that collides with another writer runs again on the new document", changeRunsAgain},
		{"an update leaves the fields alone that the program's type does not have", unknownFieldsSurvive},
		{"an update of nothing writes nothing", emptyUpdate},
		{"Modify raises or adds to a field, and returns what it was", raises},
		{"a raise leaves the revision alone and counts itself, unless it sets fields", raiseCounts},
		{"Modify changes only a document that meets its conditions", raisesOnCondition},
		{"Modify refuses fields that it cannot change without a read", raiseRefuses},
		{"an update that has read what Modify sets runs again", raiseDuringUpdate},
		{"of concurrent updates, raises and additions all take effect", raisesAndUpdates},
		{"Modify sets integers of an index and texts, and marks what has changed", sets},
		{"Plus adds inside an embedded document and an array", advancesInside},
		{"ModifyMany makes the edits whose conditions hold", modifiesMany},
		{"UpdateMany runs again for the documents that another writer changed", updateManyRunsAgain},
		{"the last page has no next page token, even if it is full, and may be very large", lastPage},
		{"documents that exist during the whole walk appear exactly once", othersComeAndGo},
		{"a page token of another query is refused", badTokens},
		{"Batches returns all documents or as many as wanted, and can be stopped early or by an error", batches},
		{"a page ends before it exceeds MaxPageBytes, and a walk returns each document once", pageBytes},
		{"a page of documents with given ids is in the order of the ids, and each exists once", pagesOfIDs},
		{"a document that is kept does not keep its neighbours alive", keptAlone},
		{"DeleteAll of a range deletes any number of documents", func(t *testing.T, engine docstore.Engine) {
			deletesLongRange(t, engine, settings.deleted)
		}},
		{"one call may insert, read and delete many documents", func(t *testing.T, engine docstore.Engine) {
			manyAtOnce(t, engine, settings.many)
		}},
		{"a call with an ended context fails with the context's error and does nothing", contextDone},
		{"a call after Close is unavailable, and closing again does nothing", afterClose},
		{"a collection can be opened again with the same declaration, and with no other", opensAgain},
		{"an invalid declaration is refused", senselessSpecs},
		{"Inspect of a collection that does not exist finds nothing and creates nothing", inspectsNothing},
		{"Inspect of a collection as declared finds all indexes, reads it, and refuses every write", inspectionRefusesWrites},
		{"a read after a write sees the write, despite concurrent writers", readsOwnWrites},
		{"Close waits for the calls in flight", closeWaits},
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
