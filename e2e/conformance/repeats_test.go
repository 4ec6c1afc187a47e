package conformance

import (
	"errors"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
)

// note is a document with a counter and more than a change asks for.
type note struct {
	ID    int64  `bson:"_id"`
	Text  string `bson:"text"`
	Count int64  `bson:"count"`
	Other int64  `bson:"other"`
}

// withLostReply returns a collection on a server whose first reply to a command of a name is lost from now on. The
// driver sends the command again.
func withLostReply(t *testing.T, name string, stored ...note) *docstore.Collection[int64, note] {
	t.Helper()
	server := mongotest.StartServer(t, mongowire.Config{})
	notes, err := docstore.Open[int64, note](t.Context(), open(t, server.URI(""), mongotest.Database()), docstore.Spec{Name: "notes", ID: docstore.Int64})
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range stored {
		if err := notes.Insert(t.Context(), each); err != nil {
			t.Fatal(err)
		}
	}
	isLost := false
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if isLost || command.Name != name {
			return mongowire.Fault{}
		}
		isLost = true
		return mongowire.Fault{Kind: mongowire.CutAfter}
	})
	return notes
}

// A server that gets an insert again leaves out the error of a duplicate before a document that it has stored.
func TestADuplicateThatARepeatedInsertLeavesOutIsNotTakenForStored(t *testing.T) {
	t.Parallel()
	for name, inserted := range map[string][]note{
		"before a stored one":       {{ID: 1, Text: "again"}, {ID: 2}},
		"between two":               {{ID: 2}, {ID: 1, Text: "again"}, {ID: 3}},
		"one of two that are there": {{ID: 1, Text: "again"}, {ID: 2}, {ID: 1, Text: "once more"}},
	} {
		notes := withLostReply(t, "insert", note{ID: 1, Text: "first"})
		if errs, err := notes.InsertMany(t.Context(), inserted); !errors.Is(err, docstore.ErrUnavailable) {
			t.Errorf("%s: got %v, %v", name, errs, err)
		}
	}
	notes := withLostReply(t, "insert", note{ID: 1, Text: "first"})
	var duplicate *docstore.DuplicateError
	if errs, err := notes.InsertMany(t.Context(), []note{{ID: 2}, {ID: 1}}); err != nil || errs[0] != nil || !errors.As(errs[1], &duplicate) {
		t.Errorf("behind a stored one: got %v, %v", errs, err)
	}
}

// A server that gets a findAndModify again returns whole documents.
func TestAChangeThatIsRepeatedReturnsWhatItReturnedFirst(t *testing.T) {
	t.Parallel()
	stored := note{ID: 1, Text: "text", Count: 5, Other: 7}
	before, other, err := withLostReply(t, "findAndModify", stored).Advance(t.Context(), 1, docstore.Amount{Field: "count", By: 3}, "other")
	if before != 5 || other != 7 || err != nil {
		t.Errorf("advance: got %d, %d, %v", before, other, err)
	}
	notes := withLostReply(t, "findAndModify", stored)
	if before, err = notes.Raise(t.Context(), 1, docstore.Amount{Field: "count", By: 9}, nil); before != 5 || err != nil {
		t.Errorf("raise: got %d, %v", before, err)
	}
	if got, err := notes.Get(t.Context(), 1); got != (note{ID: 1, Text: "text", Count: 9, Other: 7}) || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}
