package conformance

import (
	"errors"
	"slices"
	"sync/atomic"
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
		if err := notes.Insert(t.Context(), inserted...); !errors.Is(err, docstore.ErrUnavailable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	notes := withLostReply(t, "insert", note{ID: 1, Text: "first"})
	if taken, err := docstore.Taken(notes.Insert(t.Context(), note{ID: 2}, note{ID: 1})); err != nil || !slices.Equal(taken, []int{1}) {
		t.Errorf("behind a stored one: got %v, %v", taken, err)
	}
}

// A server that gets a findAndModify again returns whole documents.
func TestAChangeThatIsRepeatedReturnsWhatItReturnedFirst(t *testing.T) {
	t.Parallel()
	stored := note{ID: 1, Text: "text", Count: 5, Other: 7}
	fields := []string{"count", "other"}
	before, err := withLostReply(t, "findAndModify", stored).Modify(t.Context(), 1, docstore.Edit{Set: map[string]any{"count": docstore.Plus(3)}, Fields: fields})
	if before.Count != 5 || before.Other != 7 || err != nil {
		t.Errorf("an addition: got %+v, %v", before, err)
	}
	notes := withLostReply(t, "findAndModify", stored)
	before, err = notes.Modify(t.Context(), 1, docstore.Edit{Raise: docstore.Amount{Field: "count", By: 9}, Fields: fields[:1]})
	if before.Count != 5 || err != nil {
		t.Errorf("a raise: got %+v, %v", before, err)
	}
	if got, err := notes.Get(t.Context(), 1); got != (note{ID: 1, Text: "text", Count: 9, Other: 7}) || err != nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Neither is a document taken for absent whose read breaks off: it is read again once, and then the read fails.
func TestAReadIsSentAgainWhoseReplyIsLost(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	notes, err := docstore.Open[int64, note](t.Context(), open(t, server.URI(""), mongotest.Database()), docstore.Spec{Name: "notes", ID: docstore.Int64})
	if err == nil {
		err = notes.Insert(t.Context(), note{ID: 1, Text: "text"})
	}
	if err != nil {
		t.Fatal(err)
	}
	for lost, want := range map[int32]error{1: nil, 10: docstore.ErrUnavailable} {
		var left atomic.Int32
		left.Store(lost)
		server.SetFaults(func(command mongowire.Command) mongowire.Fault {
			if command.Name == "find" && left.Add(-1) >= 0 {
				return mongowire.Fault{Kind: mongowire.CutAfter}
			}
			return mongowire.Fault{}
		})
		found := 0
		var failed error
		for batch, err := range notes.Batches(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 10}) {
			found, failed = found+len(batch), err
			if err != nil {
				break
			}
		}
		if !errors.Is(failed, want) || (want == nil) != (found == 1) {
			t.Errorf("after %d lost replies: %d documents, %v", lost, found, failed)
		}
	}
}
