package integrity_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/child"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
)

// box is a parent that has items and choices.
type box struct {
	ID      int64   `bson:"_id"`
	OwnerID int64   `bson:"owner_id"`
	Latest  int64   `bson:"latest"`
	Numbers []int64 `bson:"numbers"`
	Round   int64   `bson:"round"`
}

type item struct {
	ID         int64  `bson:"_id"`
	BoxID      int64  `bson:"box_id"`
	RequestKey string `bson:"request_key"`
}

const owner = 1

func byBox() docstore.Index1[int64] { return child.ByParent("box_id") }

func byRequest() docstore.Index2[int64, string] {
	return docstore.Index2[int64, string]{Name: docstore.RequestIndex, A: "box_id", B: "request_key", Unique: true}
}

// world is a store of boxes and their children, on a clock that the test sets.
type world struct {
	t     *testing.T
	store *watched
	boxes *owned.Collection[box]
	items *child.Set[box, item]
	votes *choices.Counter[box]

	mu  sync.Mutex
	now time.Time
	// users is the number of users created so far, and calledFor that of calls of sweepBeforeThird.
	users, calledFor int64
}

// keptTime is how long a deletion is shown to followers.
const keptTime = 24 * time.Hour

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	engine, err := embedded.OpenWithClock(filepath.Join(t.TempDir(), "store.db"), w.clock)
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	w.store = watch(engine)
	boxes, err := docstore.Open[int64, box](t.Context(), w.store, docstore.Spec{Name: "boxes", ID: docstore.Int64, Tombstones: true})
	must(t, err)
	items, err := docstore.Open[int64, item](t.Context(), w.store, child.Spec("items", byBox(), byRequest().Declare()))
	must(t, err)
	chosen, err := docstore.Open[string, choices.Choice](t.Context(), w.store, choices.Spec("choices"))
	must(t, err)
	moved, err := aliases.Open(t.Context(), w.store, "box_aliases")
	must(t, err)
	w.boxes = &owned.Collection[box]{
		Documents: boxes, OwnerField: "owner_id", Aliases: moved,
		ID:       func(b *box) int64 { return b.ID },
		Owner:    func(b *box) int64 { return b.OwnerID },
		NotFound: func(id int64) *apierror.Error { return apierror.NotFound("NO_BOX", "no box %d", id) },
	}
	ids := id.NewSource(time.Now)
	w.items = &child.Set[box, item]{
		Parents: w.boxes, Children: items, IDs: ids,
		Latest:      func(b *box) *int64 { return &b.Latest },
		LatestField: "latest",
		ByParent:    byBox(),
		ParentOf:    func(i *item) int64 { return i.BoxID },
		RequestKey:  func(i *item) string { return i.RequestKey },
		NoChild:     func(id int64) *apierror.Error { return apierror.NotFound("NO_ITEM", "no item %d", id) },
	}
	w.votes = &choices.Counter[box]{
		Parents: w.boxes, Choices: chosen,
		Round: func(b *box) *int64 { return &b.Round }, RoundField: "round",
		Numbers: func(b *box) (all []choices.Number) {
			for i := range b.Numbers {
				all = append(all, choices.Number{Count: &b.Numbers[i]})
			}
			return all
		},
		Fields: func(value int32) (count, moved string) { return fmt.Sprintf("numbers.%d", value-1), "" },
	}
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(by)
}

// expect reports an error. It may be called on any goroutine.
func (w *world) expect(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
}

// addBox adds a box with some items, and one vote for choice 1 by each of some users.
func (w *world) addBox(id int64, items, users int) {
	w.t.Helper()
	w.expect(w.boxes.Documents.Insert(w.t.Context(), box{ID: id, OwnerID: owner, Numbers: []int64{0, 0}}))
	for range items {
		w.addItem(id)
	}
	for user := range users {
		w.vote(id, int64(user+1), 1)
	}
}

func (w *world) addItem(boxID int64) item {
	w.t.Helper()
	added, err := w.items.Add(w.t.Context(), owner, boxID, docstore.Request{By: byRequest().First(boxID)}, nil,
		func(id int64, requestKey string) item { return item{ID: id, BoxID: boxID, RequestKey: requestKey} })
	w.expect(err)
	return added
}

func (w *world) removeItem(i item) {
	w.t.Helper()
	w.expect(w.items.Remove(w.t.Context(), i.BoxID, i.ID, "", func(*box, *item) error { return nil }))
}

func (w *world) vote(boxID, userID int64, value int32) {
	w.t.Helper()
	_, err := w.votes.Put(w.t.Context(), boxID, userID, choices.Always[box](value))
	w.expect(err)
}

// newUser returns a user who has not voted yet.
func (w *world) newUser() int64 {
	w.users++
	return 1000 + w.users
}

func (w *world) sweep() {
	w.t.Helper()
	must(w.t, w.boxes.Documents.Sweep(w.t.Context(), keptTime, func(ctx context.Context, id int64) error {
		if err := w.items.RemoveAll(ctx, id); err != nil {
			return err
		}
		return w.votes.RemoveAll(ctx, id)
	}))
}

// sweepBeforeThird ends all deletions before the third read of a check: it has read the boxes and one
// box again, and asks next whether a sweep is to come.
func (w *world) sweepBeforeThird() {
	if w.calledFor++; w.calledFor == 3 {
		w.advance(time.Hour)
		w.sweep()
	}
}

// tamper changes a box without keeping its numbers right.
func (w *world) tamper(id int64, change func(*box)) {
	w.t.Helper()
	_, err := w.boxes.Documents.Update(w.t.Context(), id, func(b *box) error { change(b); return nil })
	must(w.t, err)
}

// check checks both constraints.
func (w *world) check(mode integrity.Mode) (all []integrity.Finding) {
	w.t.Helper()
	for _, constraint := range []integrity.Constraint{w.items.Constraint(), w.votes.Constraint()} {
		findings, err := constraint.Check(w.t.Context(), mode, func(int) {})
		must(w.t, err)
		all = append(all, findings...)
	}
	return all
}

// watched is a store that runs a function just before each of the next reads of one
// collection, as another process might.
type watched struct {
	storetest.Hooked

	collection string
	do         func()
	times      int
}

func watch(engine docstore.Engine) *watched {
	w := &watched{}
	w.Hooked = storetest.Hooked{Engine: engine, Read: func(_ context.Context, call storetest.Call, do func() error) error {
		w.read(call.Collection)
		return do()
	}}
	return w
}

// before sets the function to run before the next reads of a collection.
func (w *watched) before(collection string, times int, do func()) {
	w.collection, w.times, w.do = collection, times, do
}

func (w *watched) read(collection string) {
	if w.times == 0 || w.collection != collection {
		return
	}
	// The function itself reads, too.
	times := w.times - 1
	w.times = 0
	w.do()
	w.times = times
}
