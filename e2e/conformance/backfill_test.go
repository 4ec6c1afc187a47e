package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/longform"
)

// oldRated is a document of an old version, rated one of a version with new indexed fields.
type oldRated struct {
	ID    int64  `bson:"_id"`
	Title string `bson:"title"`
}

type rated struct {
	ID     int64  `bson:"_id"`
	Title  string `bson:"title"`
	Rating int64  `bson:"rating"`
	Mood   string `bson:"mood"`
}

const (
	fields = 2
	// few documents take one batch of a backfill for each field, many two. FerretDB needs
	// seconds to change many.
	few, many = 12, 1001

	byDefault, best = 3, 9
	unset           = "unset"
)

func byRating() docstore.Index1[int64] { return docstore.Index1[int64]{Name: "by_rating", A: "rating"} }

func byMood() docstore.Index1[string] { return docstore.Index1[string]{Name: "by_mood", A: "mood"} }

// specs declare the collection as the two versions do.
func specs() (before, after docstore.Spec) {
	before = docstore.Spec{Name: "rated", ID: docstore.Int64}
	after = before
	after.Indexes = []docstore.Index{byRating().Declare(), byMood().Declare()}
	after.Defaults = map[string]docstore.Value{"rating": docstore.ValueOf(int64(byDefault)), "mood": docstore.ValueOf(unset)}
	return before, after
}

// versions is a collection that an old and a new version of a program have open at once, the
// new one in two processes.
type versions struct {
	t        *testing.T
	server   *mongowire.Server
	old      *docstore.Collection[int64, oldRated]
	young    *docstore.Collection[int64, rated]
	backfill [2]func(context.Context) (int64, error)
}

func onOneCollection(t *testing.T, server *mongowire.Server) *versions {
	t.Helper()
	uri := server.URI("")
	v, database := &versions{t: t, server: server}, mongotest.NewDatabase(t, uri)
	before, after := specs()
	var err error
	v.old, err = docstore.Open[int64, oldRated](t.Context(), open(t, uri, database), before)
	v.must(err)
	for i := range v.backfill {
		engine := open(t, uri, database)
		v.young, err = docstore.Open[int64, rated](t.Context(), engine, after)
		v.must(err)
		v.backfill[i] = engine.Backfill
	}
	return v
}

func (v *versions) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// insertOld inserts documents as the old version does.
func (v *versions) insertOld(from, to int64) {
	v.t.Helper()
	var documents []oldRated
	for id := from; id < to; id++ {
		documents = append(documents, oldRated{id, "old"})
	}
	v.must(v.old.Insert(v.t.Context(), documents...))
}

// change changes documents as both versions do while a backfill is under way.
func (v *versions) change() {
	v.t.Helper()
	for _, id := range changed() {
		_, err := v.young.Update(v.t.Context(), id, func(r *rated) error { r.Rating = best; return nil })
		v.must(err)
	}
	for _, id := range renamed() {
		_, err := v.old.Update(v.t.Context(), id, func(o *oldRated) error { o.Title = "renamed"; return nil })
		v.must(err)
	}
	v.must(v.old.Delete(v.t.Context(), deleted))
}

func changed() []int64 { return []int64{0, 3, few - 1} }

func renamed() []int64 { return []int64{1, 4} }

const deleted = 5

// expectBackfilled checks all documents after change and a backfill.
func (v *versions) expectBackfilled(stored int64) {
	v.t.Helper()
	want := map[int64]rated{}
	for id := range stored {
		want[id] = rated{id, "old", byDefault, unset}
	}
	for _, id := range changed() {
		want[id] = rated{id, "old", best, unset}
	}
	for _, id := range renamed() {
		want[id] = rated{id, "renamed", byDefault, unset}
	}
	delete(want, deleted)
	byNewIndexes := []docstore.Where{byRating().Is(byDefault), byRating().Is(best), byMood().Is(unset)}
	for i, count := range []int{len(want) - len(changed()), len(changed()), len(want)} {
		found := 0
		for documents, err := range v.young.Batches(v.t.Context(), docstore.Query{Where: byNewIndexes[i], Limit: 1000}) {
			v.must(err)
			for _, each := range documents {
				found++
				if each != want[each.ID] {
					v.t.Errorf("got %+v, want %+v", each, want[each.ID])
				}
			}
		}
		if found != count {
			v.t.Errorf("found %d documents by %s, want %d", found, byNewIndexes[i].Index(), count)
		}
	}
}

// expectEachFieldOnce checks how many fields all backfills have stored. Documents that got the
// fields or were deleted in their turn need none.
func (v *versions) expectEachFieldOnce(stored, done int64) {
	v.t.Helper()
	if least, most := fields*(stored-int64(len(changed()))-1), fields*stored; done < least || done > most {
		v.t.Errorf("the backfills stored %d fields, want %d to %d", done, least, most)
	}
}

// isBatch reports whether a command changes a batch of a backfill.
func isBatch(command mongowire.Command) bool {
	if command.Name != "update" || len(command.Statements) != 1 {
		return false
	}
	many, _ := command.Statements[0].Lookup("multi").BooleanOK()
	return many
}

// faultAt has a fault at one of the batches of a backfill, from 1 on. isHit reports whether
// there was such a batch.
func faultAt(server *mongowire.Server, batch int64, fault mongowire.Fault) (isHit func() bool) {
	var seen atomic.Int64
	server.SetFaults(func(command mongowire.Command) mongowire.Fault {
		if isBatch(command) && seen.Add(1) == batch {
			return fault
		}
		return mongowire.Fault{}
	})
	return func() bool { return seen.Load() >= batch }
}

func TestABackfillThatIsCutBetweenAnyTwoWritesIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	cut := func(name string, kind mongowire.FaultKind, stored, batch, batches int64) {
		t.Run(fmt.Sprintf("%s batch %d of %d", name, batch, batches), func(t *testing.T) {
			v := onOneCollection(t, server)
			v.insertOld(0, stored)
			isHit := faultAt(server, batch, mongowire.Fault{Kind: kind})
			done, err := v.backfill[0](t.Context())
			if isHit() != (batch <= batches) || isHit() != errors.Is(err, docstore.ErrUnavailable) || !isHit() && err != nil {
				t.Fatalf("hit %v: changed %d, %v", isHit(), done, err)
			}
			v.change()
			server.SetFaults(nil)
			_, err = v.backfill[1](t.Context())
			v.must(err)
			v.expectBackfilled(stored)
			if again, err := v.backfill[0](t.Context()); again != 0 || err != nil {
				t.Errorf("the next backfill changed %d documents: %v", again, err)
			}
		})
	}
	for batch := int64(1); batch <= fields+1; batch++ {
		cut("before", mongowire.CutBefore, few, batch, fields)
		cut("after", mongowire.CutAfter, few, batch, fields)
	}
	if longform.Selected() && !hasRaceDetector { // it would take minutes
		cut("after", mongowire.CutAfter, many, 1, 2*fields)
	}
}

// The batch has been chosen, and documents in it change before the server changes them.
func TestABackfillChangesNoDocumentThatHasTheFieldByNow(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	for batch := int64(1); batch <= fields; batch++ {
		for name, isAlone := range map[string]bool{"alone": true, "beside another process": false} {
			t.Run(fmt.Sprintf("batch %d, %s", batch, name), func(t *testing.T) {
				v := onOneCollection(t, server)
				v.insertOld(0, few)
				arrived, held, done := make(chan struct{}), make(chan struct{}), make(chan int64)
				var seen atomic.Int64
				server.SetFaults(func(command mongowire.Command) mongowire.Fault {
					if isBatch(command) && seen.Add(1) == batch {
						close(arrived)
						return mongowire.Fault{Hold: held}
					}
					return mongowire.Fault{}
				})
				go func() {
					n, err := v.backfill[0](t.Context())
					if err != nil {
						t.Error(err)
					}
					done <- n
				}()
				<-arrived
				v.change()
				v.insertOld(few, few+few)
				others := int64(0)
				if !isAlone {
					var err error
					others, err = v.backfill[1](t.Context())
					v.must(err)
				}
				close(held)
				own := <-done
				last, err := v.backfill[1](t.Context())
				v.must(err)
				v.expectBackfilled(few + few)
				v.expectEachFieldOnce(few+few, own+others+last)
			})
		}
	}
}

func TestTwoProcessesBackfillWhileAnOldOneWrites(t *testing.T) {
	t.Parallel()
	v := onOneCollection(t, mongotest.StartServer(t, mongowire.Config{}))
	v.insertOld(0, few)
	const stored = few + 50
	var total atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var backfilling, writing sync.WaitGroup
	for _, backfill := range v.backfill {
		backfilling.Go(func() {
			for isLast := false; !isLast; {
				isLast = ctx.Err() != nil
				n, err := backfill(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				total.Add(n)
			}
		})
	}
	writing.Go(func() {
		for id := int64(few); id < stored; id++ {
			if err := v.old.Insert(t.Context(), oldRated{id, "old"}); err != nil {
				t.Error(err)
			}
		}
	})
	writing.Go(v.change)
	writing.Wait()
	stop()
	backfilling.Wait()
	v.expectBackfilled(stored)
	v.expectEachFieldOnce(stored, total.Load())
}

// A process that starts backfills before it serves.
func TestAStartThatIsCutDuringItsBackfillIsRepeated(t *testing.T) {
	t.Parallel()
	server := mongotest.StartServer(t, mongowire.Config{})
	uri := server.URI("")
	database := mongotest.NewDatabase(t, uri)
	before, after := specs()
	old, err := docstore.Open[int64, oldRated](t.Context(), open(t, uri, database), before)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Insert(t.Context(), oldRated{1, "old"}); err != nil {
		t.Fatal(err)
	}
	engine := open(t, uri, database)
	isHit := faultAt(server, 1, mongowire.Fault{Kind: mongowire.CutBefore})
	if _, err := docstore.Open[int64, rated](t.Context(), engine, after); !errors.Is(err, docstore.ErrUnavailable) || !isHit() {
		t.Fatalf("got %v", err)
	}
	young, err := docstore.Open[int64, rated](t.Context(), engine, after)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := young.Count(t.Context(), byRating().Is(byDefault)); n != 1 || err != nil {
		t.Errorf("%d documents are in the index: %v", n, err)
	}
}
