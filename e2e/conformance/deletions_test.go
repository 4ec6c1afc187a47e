package conformance

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/waybooktest"
)

// The sweeps of another process take place while the deletion is on its way, before and after the
// server's clock has stepped.
func TestADeletionThatArrivesLateIsListedAndSwept(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	var offset atomic.Int64
	server.SetClock(func() time.Time { return time.Now().Add(time.Duration(offset.Load())) })
	uri := server.URI("")
	database := mongotest.NewDatabase(t, uri)
	spec := docstore.Spec{Name: "followed", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Settling: 10 * time.Millisecond}}
	documents := waybooktest.Must(docstore.Open[int64, work](t.Context(), open(t, uri, database), spec))(t)
	others := waybooktest.Must(docstore.Open[int64, work](t.Context(), open(t, uri, database), spec))(t)
	if err := documents.Insert(t.Context(), work{1, "short-lived"}); err != nil {
		t.Fatal(err)
	}
	token := ""
	next := func() []docstore.DocumentChange[int64] {
		page := waybooktest.Must(others.Changes(t.Context(), docstore.ChangesQuery{Token: token, Limit: 10}))(t)
		token = page.Next
		return page.Changes
	}
	for len(next()) == 0 {
		continue
	}
	sweep := func() (purged []int64) {
		err := others.Sweep(t.Context(), time.Nanosecond, func(_ context.Context, id int64) error {
			purged = append(purged, id)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return purged
	}

	arrived, held := make(chan struct{}), make(chan struct{})
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if command.Name != "update" || command.Collection != spec.Name {
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
	early := sweep()
	offset.Store(int64(time.Hour))
	if early = append(early, sweep()...); len(early) > 0 {
		t.Errorf("sweeps purged %v before it was deleted", early)
	}
	close(held)
	deleting.Wait()
	server.SetFaults(nil)
	if purged := sweep(); !slices.Equal(purged, []int64{1}) {
		t.Errorf("a sweep purged %v", purged)
	}
	if deleted := waybooktest.Must(others.Deleted(t.Context(), []int64{1}))(t); deleted[1] != docstore.Going {
		t.Error("sweeps do not look again for what a call from before the deletion has added")
	}

	if err := documents.Insert(t.Context(), work{2, "the last"}); err != nil {
		t.Fatal(err)
	}
	got := map[int64]docstore.ChangeType{}
	for _, change := range next() {
		got[change.ID] = change.Type
	}
	if want := map[int64]docstore.ChangeType{1: docstore.DocumentDeleted, 2: docstore.DocumentCreated}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
