package choices_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
)

const (
	voteID      = 7
	choiceCount = 3
)

// vote is a parent with a number for each value from 1.
type vote struct {
	ID      int64              `bson:"_id"`
	Mark    choices.Mark       `bson:"mark"`
	Numbers [choiceCount]int64 `bson:"numbers"`
}

func TestNumbersAreExactAfterConcurrentChanges(t *testing.T) {
	checkNumbers(t, 0)
}

func TestNumbersAreExactWhenWritesFail(t *testing.T) {
	checkNumbers(t, 0.2)
}

// checkNumbers lets users change their choices concurrently. A share of the store's writes
// fail before or after they are done, and callers go away. Then each user repeats the final
// choice.
func checkNumbers(t *testing.T, failing float64) {
	const users, rounds = 12, 25
	store := &flaky{Engine: newStore(t)}
	votes := newCounter(t, store)
	store.setFailing(failing)
	var last [users]int32
	var group sync.WaitGroup
	for user := range users {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(user)))
			for range rounds {
				last[user] = random.Int32N(choiceCount + 1)
				_, err := votes.Put(t.Context(), voteID, int64(user+1), choices.Always(last[user]))
				if err != nil && !errors.Is(err, errFlaky) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	store.setFailing(0)

	var want [choiceCount]int64
	for user, value := range last {
		if _, err := votes.Put(t.Context(), voteID, int64(user+1), choices.Always(value)); err != nil {
			t.Error(err)
		}
		if value != choices.None {
			want[value-1]++
		}
	}
	parent, err := votes.Parents.Get(t.Context(), voteID)
	if err != nil {
		t.Fatal(err)
	}
	if parent.Numbers != want {
		t.Errorf("numbers %v, want %v", parent.Numbers, want)
	}
	if failing > 0 && store.failed.Load() == 0 {
		t.Error("no write failed")
	}
}

func TestARejectedChoiceChangesNothing(t *testing.T) {
	votes := newCounter(t, newStore(t))
	refusal := errors.New("no")
	for range 2 {
		if _, err := votes.Put(t.Context(), voteID, 1, func(present int32) (int32, error) {
			if present == choices.None {
				return 2, nil
			}
			return 1, refusal
		}); err != nil && !errors.Is(err, refusal) {
			t.Fatal(err)
		}
	}
	parent, err := votes.Parents.Get(t.Context(), voteID)
	if err != nil {
		t.Fatal(err)
	}
	if parent.Numbers != [choiceCount]int64{0, 1, 0} {
		t.Errorf("numbers %v", parent.Numbers)
	}
}

func TestWithdrawingWithoutAChoiceStoresNothing(t *testing.T) {
	votes := newCounter(t, newStore(t))
	if _, err := votes.Put(t.Context(), voteID, 1, choices.Always(choices.None)); err != nil {
		t.Fatal(err)
	}
	if n, err := votes.Choices.Count(t.Context(), docstore.IDIndex); err != nil || n != 0 {
		t.Errorf("%d choices, %v", n, err)
	}
	if _, err := votes.Put(t.Context(), 8, 1, choices.Always(1)); !errors.As(err, new(*apierror.Error)) {
		t.Errorf("an unknown parent: %v", err)
	}
}

func newStore(t *testing.T) docstore.Engine {
	t.Helper()
	engine, err := embedded.Open(filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return engine
}

func newCounter(t *testing.T, engine docstore.Engine) *choices.Counter[vote] {
	t.Helper()
	votes, err := docstore.Open[int64, vote](t.Context(), engine, docstore.Spec{Name: "votes", ID: docstore.Int64})
	if err != nil {
		t.Fatal(err)
	}
	cast, err := docstore.Open[int64, choices.Choice](t.Context(), engine, choices.Spec("choices"))
	if err != nil {
		t.Fatal(err)
	}
	if err := votes.Insert(t.Context(), vote{ID: voteID}); err != nil {
		t.Fatal(err)
	}
	return &choices.Counter[vote]{
		Parents: &owned.Collection[vote]{
			Documents: votes,
			NotFound:  func(id int64) *apierror.Error { return apierror.NotFound("NO_VOTE", "no vote %d", id) },
		},
		Choices: cast, NewID: id.NewSource(time.Now).Next,
		Mark: func(v *vote) *choices.Mark { return &v.Mark },
		Add:  func(v *vote, value int32, by int64) { v.Numbers[value-1] += by },
	}
}

var errFlaky = errors.New("the connection broke")

// flaky is a store in which a share of the writes fail, half of them after the write was
// done.
type flaky struct {
	docstore.Engine

	mu      sync.Mutex
	failing float64
	failed  atomic.Int64
}

func (f *flaky) setFailing(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = share
}

func (f *flaky) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := f.Engine.Open(ctx, spec)
	return &flakyTable{Table: table, store: f}, err
}

// write runs a write, or fails before or after it.
func (f *flaky) write(do func() error) error {
	f.mu.Lock()
	failing := f.failing
	f.mu.Unlock()
	drawn := rand.Float64()
	if drawn >= failing {
		return do()
	}
	f.failed.Add(1)
	if drawn < failing/2 {
		if err := do(); err != nil {
			return err
		}
	}
	return errFlaky
}

type flakyTable struct {
	docstore.Table
	store *flaky
}

func (f *flakyTable) Insert(ctx context.Context, documents []bson.Raw) (errs []error, err error) {
	err = f.store.write(func() (err error) {
		errs, err = f.Table.Insert(ctx, documents)
		return err
	})
	return errs, err
}

func (f *flakyTable) Replace(ctx context.Context, revision int64, document bson.Raw) error {
	return f.store.write(func() error { return f.Table.Replace(ctx, revision, document) })
}
