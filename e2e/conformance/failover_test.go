package conformance

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/waybooktest"
)

// What a primary has and no majority acknowledges, a failover undoes:
// https://www.mongodb.com/docs/manual/core/replica-set-rollbacks/.

// work is a document of these tests.
type work struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
}

// onPrimary opens a collection with the documents 1 and 2, and a feed.
func onPrimary(t *testing.T, role mongowire.Role) (*docstore.Collection[int64, work], *mongowire.Server) {
	t.Helper()
	server := mongotest.StartServer(t, mongowire.Config{Role: role})
	spec := docstore.Spec{Name: "followed", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Settling: 10 * time.Millisecond}}
	documents := waybooktest.Must(docstore.Open[int64, work](t.Context(), open(t, server.URI(mongotest.Database()), ""), spec))(t)
	for id := range int64(2) {
		if err := documents.Insert(t.Context(), work{id + 1, "first"}); err != nil {
			t.Fatal(err)
		}
	}
	return documents, server
}

// expectUnacknowledged checks that writes are reported as unavailable: a change of 1, a deletion of 2, and a new 3.
func expectUnacknowledged(t *testing.T, documents *docstore.Collection[int64, work]) {
	t.Helper()
	_, err := documents.Modify(t.Context(), 1, docstore.Edit{Set: map[string]any{"title": "second"}})
	for _, err := range []error{err, documents.Delete(t.Context(), 2), documents.Insert(t.Context(), work{3, "new"})} {
		if !errors.Is(err, docstore.ErrUnavailable) {
			t.Errorf("without a majority, a write ends with %v", err)
		}
	}
}

// durable returns the titles that no failover undoes.
func durable(t *testing.T, documents *docstore.Collection[int64, work]) map[int64]string {
	t.Helper()
	titles := map[int64]string{}
	for _, each := range waybooktest.Must(documents.GetMany(t.Context(), []int64{1, 2, 3}, docstore.Durable))(t) {
		titles[each.ID] = each.Title
	}
	return titles
}

func expectTitles(t *testing.T, got, want map[int64]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestADurableReadSeesNothingThatAFailoverUndoes(t *testing.T) {
	t.Parallel()
	for name, role := range map[string]mongowire.Role{"replica set": mongowire.Primary, "mongos": mongowire.Router} {
		for _, fails := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				documents, server := onPrimary(t, role)
				release := server.HoldMajority(mongowire.Failing)
				expectUnacknowledged(t, documents)
				if present := waybooktest.Must(documents.Get(t.Context(), 1))(t); present.Title != "second" {
					t.Errorf("a read of the present has %v", present)
				}
				first := map[int64]string{1: "first", 2: "first"}
				expectTitles(t, durable(t, documents), first)
				if fails {
					waybooktest.OK(t, server.FailOver())
					expectTitles(t, durable(t, documents), first)
					return
				}
				release()
				expectTitles(t, durable(t, documents), map[int64]string{1: "second", 3: "new"})
			})
		}
	}
}

// follower copies what changes.
type follower struct {
	documents *docstore.Collection[int64, work]
	titles    map[int64]string
	token     string
	limit     int
}

func (f *follower) poll(ctx context.Context) error {
	page, err := f.documents.Changes(ctx, docstore.ChangesQuery{Token: f.token, Limit: f.limit})
	if err != nil {
		return err
	}
	var ids []int64
	for _, change := range page.Changes {
		ids = append(ids, change.ID)
	}
	documents, err := f.documents.GetMany(ctx, ids, docstore.Listed)
	if err != nil {
		return err
	}
	for _, id := range ids {
		delete(f.titles, id)
	}
	for _, each := range documents {
		f.titles[each.ID] = each.Title
	}
	f.token = page.Next
	return nil
}

// insertLast inserts the document 4, and polls until the follower has it.
func (f *follower) insertLast(t *testing.T) {
	waybooktest.OK(t, f.documents.Insert(t.Context(), work{4, "last"}))
	for f.titles[4] == "" {
		waybooktest.OK(t, f.poll(t.Context()))
	}
}

// The follower polls meanwhile, and sweeps run. Then it has what is stored.
func TestFollowersAndSweepsSeeNothingThatAFailoverUndoes(t *testing.T) {
	t.Parallel()
	documents, server := onPrimary(t, mongowire.Primary)
	f := &follower{documents: documents, titles: map[int64]string{}, limit: 10}
	for f.titles[2] == "" {
		waybooktest.OK(t, f.poll(t.Context()))
	}
	server.HoldMajority(mongowire.Failing)
	expectUnacknowledged(t, documents)
	for range 3 {
		waybooktest.OK(t, f.poll(t.Context()))
		expectTitles(t, f.titles, map[int64]string{1: "first", 2: "first"})
		err := documents.Sweep(t.Context(), time.Nanosecond, func(_ context.Context, id int64) error {
			t.Errorf("a sweep purged %d", id)
			return nil
		})
		if !errors.Is(err, docstore.ErrUnavailable) {
			t.Errorf("without a majority, a sweep ends with %v", err)
		}
	}
	waybooktest.OK(t, server.FailOver())
	f.insertLast(t)
	expectTitles(t, f.titles, map[int64]string{1: "first", 2: "first", 4: "last"})
}

// The primary loses its majority after a poll has learned the time and before it reads. The documents change in
// between. A page of the newest data would begin with the last change of document 1, and the next page would begin
// behind it. Then it would lack document 2, whose first change is the last one again.
func TestAFollowerSeesAChangeAgainThatTheNextOneHidAndAFailoverUndoes(t *testing.T) {
	t.Parallel()
	documents, server := onPrimary(t, mongowire.Primary)
	f := &follower{documents: documents, titles: map[int64]string{}, limit: 1}
	arrived, held := make(chan struct{}), make(chan struct{})
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if _, err := command.Body.LookupErr("filter", "_changed"); err != nil || command.Collection != documents.Name() {
			return mongowire.Fault{}
		}
		close(arrived)
		return mongowire.Fault{Hold: held}
	})
	done := make(chan error)
	go func() { done <- f.poll(t.Context()) }()
	<-arrived
	server.SetFaults(nil)
	server.HoldMajority(mongowire.Failing)
	expectUnacknowledged(t, documents)
	close(held)
	if err := <-done; err != nil && !errors.Is(err, docstore.ErrUnavailable) {
		t.Error(err)
	}
	waybooktest.OK(t, server.FailOver())
	f.insertLast(t)
	expectTitles(t, f.titles, map[int64]string{1: "first", 2: "first", 4: "last"})
}

// The primary has made the write and is lost before a majority acknowledges it. The driver sends it to the next one.
func TestAWriteThatAFailoverUndoesIsMadeOnceByTheNextPrimary(t *testing.T) {
	t.Parallel()
	documents, server := onPrimary(t, mongowire.Primary)
	has := func(id int64, title string) bool {
		found, err := documents.Get(t.Context(), id)
		return err == nil && found.Title == title
	}
	for _, each := range []struct {
		write  func() error
		isMade func() bool
	}{
		{func() error { return documents.Insert(t.Context(), work{3, "new"}) }, func() bool { return has(3, "new") }},
		{func() error {
			_, err := documents.Modify(t.Context(), 1, docstore.Edit{Set: map[string]any{"title": "second"}})
			return err
		}, func() bool { return has(1, "second") }},
		{func() error { return documents.Delete(t.Context(), 2) }, func() bool {
			_, err := documents.Get(t.Context(), 2)
			return errors.Is(err, docstore.ErrNotFound)
		}},
	} {
		server.HoldMajority(mongowire.Waiting)
		done := make(chan error)
		go func() { done <- each.write() }()
		for !each.isMade() {
			time.Sleep(time.Millisecond)
		}
		waybooktest.OK(t, server.FailOver())
		if err := <-done; err != nil || !each.isMade() {
			t.Errorf("the write ends with %v", err)
		}
	}
	expectTitles(t, durable(t, documents), map[int64]string{1: "second", 3: "new"})
}
