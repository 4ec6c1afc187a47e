package conformance

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
)

// The sweep of another process takes the deletion for one that has ended long ago, because the server's
// clock has stepped.
func TestADeletionIsShownThoughASweepHasForgottenItsAnnouncement(t *testing.T) {
	server := mongotest.StartServer(t, mongowire.Config{})
	var offset atomic.Int64
	server.SetClock(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) })
	uri := server.URI("")
	database := mongotest.NewDatabase(t, uri)
	spec := docstore.Spec{Name: "followed", ID: docstore.Int64, Feed: &docstore.Feed{Settling: 10 * time.Millisecond}}
	mine, other := open(t, uri, database), open(t, uri, database)
	documents := must(docstore.Open[int64, oldRated](t.Context(), mine, spec))
	others := must(docstore.Open[int64, oldRated](t.Context(), other, spec))
	if err := documents.Insert(t.Context(), oldRated{1, "short-lived"}); err != nil {
		t.Fatal(err)
	}
	token := ""
	next := func() []docstore.FeedChange[int64, oldRated] {
		page := must(others.Feed(t.Context(), docstore.FeedQuery{Token: token, Limit: 10}))
		token = page.Next
		return page.Changes
	}
	for len(next()) == 0 {
		continue
	}

	arrived, held := make(chan struct{}), make(chan struct{})
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if command.Name != "delete" || command.Collection != spec.Name {
			return mongowire.Fault{}
		}
		close(arrived)
		return mongowire.Fault{Hold: held}
	})
	var deleting sync.WaitGroup
	deleting.Go(func() {
		if err := documents.Delete(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
	<-arrived
	offset.Store(int64(time.Hour))
	must(other.Backfill(t.Context()))
	close(held)
	deleting.Wait()

	if err := documents.Insert(t.Context(), oldRated{2, "the last"}); err != nil {
		t.Fatal(err)
	}
	var got []int64
	for len(got) == 0 || got[len(got)-1] != 2 {
		for _, change := range next() {
			got = append(got, change.ID)
		}
	}
	if len(got) != 2 || got[0] != 1 {
		t.Errorf("the changes are of %v, want 1 and 2", got)
	}
}

// must ends the test by a panic.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
