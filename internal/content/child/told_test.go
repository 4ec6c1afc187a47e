package child_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
)

// crate is a box that followers see.
type crate struct {
	ID              int64     `bson:"_id"`
	Owner           int64     `bson:"owner"`
	Latest          int64     `bson:"latest"`
	UpdateTime      time.Time `bson:"update_time"`
	ContentRevision int64     `bson:"content_revision,omitempty"`
}

// remote is a store that reads do at the same time, as MongoDB.
type remote struct{ docstore.Engine }

func (remote) IsLocal() bool { return false }

func newFile(t *testing.T) docstore.Engine {
	t.Helper()
	file, err := embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	must(t, err)
	t.Cleanup(func() { must(t, file.Close()) })
	return file
}

func boxSpec(settling time.Duration) docstore.Spec {
	return docstore.Spec{Name: "boxes", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Settling: settling}}
}

// cratesOn returns a set as a process has it, with one crate.
func cratesOn(t *testing.T, engine docstore.Engine, settling time.Duration) *set {
	t.Helper()
	boxes, err := docstore.Open[int64, crate](t.Context(), remote{engine}, boxSpec(settling))
	must(t, err)
	items, err := docstore.Open[int64, item](t.Context(), remote{engine}, child.Spec("items", byBox(), byRequest().Declare()))
	must(t, err)
	noted, err := aliases.Open(t.Context(), remote{engine}, "box_aliases")
	must(t, err)
	_, err = docstore.Taken(boxes.Insert(t.Context(), crate{ID: boxID, Owner: owner}))
	must(t, err)
	return &set{
		Parents: &owned.Collection[crate]{
			Documents: boxes, OwnerField: "owner", Aliases: noted, Settling: boxSpec(settling).SettlingTime(),
			ID:       func(c *crate) int64 { return c.ID },
			Owner:    func(c *crate) int64 { return c.Owner },
			Etag:     func(c *crate) string { return owned.EtagOf(c.ContentRevision, c.UpdateTime) },
			Revision: func(c *crate) *int64 { return &c.ContentRevision },
			NotFound: func(id int64) *apierror.Error { return apierror.NotFound("NO_BOX", "no box %d", id) },
			NotOwner: func(int64) *apierror.Error { return apierror.NotOwner("no") },
		},
		Children: items, IDs: id.NewSource(time.Now), Part: "items", Clock: time.Now,
		Latest:      func(c *crate) *int64 { return &c.Latest },
		LatestField: "latest",
		ByParent:    byBox(),
		ParentOf:    func(i *item) int64 { return i.BoxID },
		Etag:        func(i *item) string { return i.Text },
		NoChild:     func(id int64) *apierror.Error { return apierror.NotFound("NO_ITEM", "no item %d", id) },
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, s *set) (item, error) {
	return s.Add(t.Context(), owner, boxID, docstore.Request{By: byRequest().First(boxID)}, nil,
		func(id int64, requestKey string) item {
			return item{ID: id, BoxID: boxID, RequestKey: requestKey, Text: "old"}
		})
}

func fill(t *testing.T, s *set) item {
	t.Helper()
	added, err := put(t, s)
	must(t, err)
	return added
}

func parentOf(t *testing.T, s *set) crate {
	t.Helper()
	parent, err := s.Parents.Get(t.Context(), boxID)
	must(t, err)
	return parent
}

// changeOf returns the moment of the latest change of the box.
func changeOf(t *testing.T, engine docstore.Engine, settling time.Duration) docstore.Moment {
	t.Helper()
	table, err := engine.Open(t.Context(), boxSpec(settling))
	must(t, err)
	batch, err := table.Changes(t.Context(), docstore.ChangeScan{Limit: 2})
	must(t, err)
	if len(batch.Changes) != 1 {
		t.Fatalf("the changes are %v", batch.Changes)
	}
	return batch.Changes[0].At
}

// changesOfAnItem are the calls that change or remove an item that is there.
func changesOfAnItem() map[string]func(ctx context.Context, s *set, itemID int64) error {
	return map[string]func(context.Context, *set, int64) error{
		"an update": func(ctx context.Context, s *set, itemID int64) error {
			_, err := s.Update(ctx, owner, boxID, itemID, "", func(i *item) { i.Text = "new" })
			return err
		},
		"a removal": func(ctx context.Context, s *set, itemID int64) error {
			return s.Remove(ctx, boxID, itemID, "", func(*crate, *item) error { return nil })
		},
	}
}

// expectTold checks that an item is as it was, or that its box has changed since.
func expectTold(t *testing.T, s *set, was item, before, after docstore.Moment) {
	t.Helper()
	is, err := s.Get(t.Context(), boxID, was.ID)
	if reasonOf(err) != "NO_ITEM" {
		must(t, err)
	}
	if is != was && after == before {
		t.Errorf("the item became %+v, and its box has changed at %d, as before", is, after)
	}
}

// A process crashes at each write of a call in turn, which the store has done or not, and another one repeats the call.
func TestACrashBetweenAnyTwoWritesHidesNoChangeFromFollowers(t *testing.T) {
	for name, change := range changesOfAnItem() {
		for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
			t.Run(name, func(t *testing.T) {
				engine := newFile(t)
				s := cratesOn(t, engine, 0)
				for writes, isOver := 0, false; !isOver; writes++ {
					was, before := fill(t, s), changeOf(t, engine, 0)
					// The box is there, which is a write.
					store, process := storetest.NewMortal(engine, 1+writes, outcome)
					err := change(t.Context(), cratesOn(t, store, 0), was.ID)
					if isOver = !process.Died(); isOver {
						must(t, err)
					} else if err := change(t.Context(), s, was.ID); reasonOf(err) != "NO_ITEM" {
						must(t, err)
					}
					expectTold(t, s, was, before, changeOf(t, engine, 0))
				}
			})
		}
	}
}

// A follower may come between a touch and a write that takes longer, and its caller does not know whether it is done.
func TestFollowersComeBackAfterAWriteThatTookLong(t *testing.T) {
	for name, change := range changesOfAnItem() {
		t.Run(name, func(t *testing.T) {
			store := &storetest.Hooked{Engine: newFile(t)}
			s := cratesOn(t, store, time.Nanosecond)
			was := fill(t, s)
			ctx, leave := context.WithCancel(t.Context())
			var during docstore.Moment
			store.Write = func(_ context.Context, call storetest.Call, do func() error) error {
				if call.Collection != "items" {
					return do()
				}
				defer leave()
				during = changeOf(t, store, time.Nanosecond)
				return errors.Join(do(), context.Canceled)
			}
			if err := change(ctx, s, was.ID); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			expectTold(t, s, was, during, changeOf(t, store, time.Nanosecond))
		})
	}
}
