package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
)

// openTable opens a store that commits with finish.
func openTable(t *testing.T, finish func(*bolt.Tx) error) (*Engine, docstore.Table) {
	t.Helper()
	engine, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	must(t, err)
	t.Cleanup(func() {
		if err := errors.Join(engine.Check(context.Background()), engine.Close()); err != nil {
			t.Error(err)
		}
	})
	table, err := engine.Open(t.Context(), docstore.Spec{Name: "things", ID: docstore.Int64})
	must(t, err)
	engine.commit.finish = finish
	return engine, table
}

func insert(ctx context.Context, table docstore.Table, id int64) error {
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: docstore.RevisionField, Value: int64(1)}})
	if err != nil {
		return err
	}
	errs, err := table.Insert(ctx, []bson.Raw{raw})
	if err != nil {
		return err
	}
	return errs[0]
}

func wantStored(t *testing.T, table docstore.Table, id int64, want error) {
	t.Helper()
	if _, err := docstore.GetFrom(t.Context(), table, docstore.ValueOf(id), docstore.Present); !errors.Is(err, want) {
		t.Fatalf("document %d: got error %v, want %v", id, err, want)
	}
}

func TestWritesQueuedDuringACommitShareTheNextCommit(t *testing.T) {
	const writers = 50
	commits, entered, proceed := 0, make(chan struct{}), make(chan struct{})
	engine, table := openTable(t, func(tx *bolt.Tx) error {
		if commits++; commits == 1 {
			close(entered)
			<-proceed
		}
		return tx.Commit()
	})
	answers := make(chan error, writers+1)
	go func() { answers <- insert(t.Context(), table, 0) }()
	<-entered
	for id := range int64(writers) {
		go func() { answers <- insert(t.Context(), table, id+1) }()
	}
	waitQueued(engine, writers)
	close(proceed)
	for range writers + 1 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if commits != 2 {
		t.Errorf("got %d commits, want 2", commits)
	}
}

// waitQueued returns once n writes are in the queue.
func waitQueued(engine *Engine, n int) {
	for {
		engine.commit.mu.Lock()
		queued := len(engine.commit.queue)
		engine.commit.mu.Unlock()
		if queued == n {
			return
		}
	}
}

func TestAQueuedWriteWhoseContextEndsNeverRuns(t *testing.T) {
	entered, proceed := make(chan struct{}, 2), make(chan struct{})
	engine, table := openTable(t, func(tx *bolt.Tx) error {
		entered <- struct{}{}
		<-proceed
		return tx.Commit()
	})
	begun := make(chan error, 1)
	begunContext, cancelBegun := context.WithCancel(t.Context())
	go func() { begun <- insert(begunContext, table, 1) }()
	<-entered
	queuedContext, cancelQueued := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- insert(queuedContext, table, 2) }()
	waitQueued(engine, 1)

	// Both calls return although the commit hangs.
	cancelQueued()
	cancelBegun()
	for _, answer := range []chan error{waiting, begun} {
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
	}
	close(proceed)
	must(t, insert(t.Context(), table, 3))
	wantStored(t, table, 1, nil)
	wantStored(t, table, 2, docstore.ErrNotFound)
}

// The clock stops each operation until its caller leaves. The race detector sees what both of them use then.
func TestACallerThatLeavesSharesNothingWithItsOperation(t *testing.T) {
	var leaving atomic.Pointer[context.Context]
	engine, err := OpenWithClock(filepath.Join(t.TempDir(), "store.db"), func() time.Time {
		if ctx := leaving.Load(); ctx != nil {
			<-(*ctx).Done()
		}
		return time.Now()
	})
	must(t, err)
	table, err := engine.Open(t.Context(), docstore.Spec{Name: "things", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{}})
	must(t, err)
	change := func(id int64) docstore.Change {
		return docstore.Change{ID: docstore.ValueOf(id), Add: []docstore.Amount{{Field: "n", By: 1}}, IsWhole: true}
	}
	for id := range int64(3) {
		must(t, insert(t.Context(), table, id))
	}
	for name, call := range map[string]func(context.Context) error{
		"Insert": func(ctx context.Context) error { return insert(ctx, table, 3) },
		"Update": func(ctx context.Context) error { _, err := table.Update(ctx, change(0)); return err },
		"UpdateMany": func(ctx context.Context) error {
			_, err := table.UpdateMany(ctx, []docstore.Change{change(0), change(1)})
			return err
		},
		"Tombstones": func(ctx context.Context) error { _, _, err := table.Tombstones(ctx, 0, 1); return err },
		"Delete": func(ctx context.Context) error {
			return table.Delete(ctx, docstore.Deletion{ID: docstore.ValueOf(int64(2))})
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		leaving.Store(&ctx)
		if err := call(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		leaving.Store(nil)
		if err := engine.write(t.Context(), 0, func(*bolt.Tx) (bool, error) { return false, nil }); err != nil { // behind it
			t.Fatal(err)
		}
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

func TestAFailingOperationDoesNotAffectTheOthersOfItsCommit(t *testing.T) {
	entered, proceed := make(chan struct{}, 9), make(chan struct{})
	engine, table := openTable(t, func(tx *bolt.Tx) error {
		entered <- struct{}{}
		<-proceed
		return tx.Commit()
	})
	answers, failure := make(chan error, 3), make(chan error, 1)
	go func() { answers <- insert(t.Context(), table, 1) }()
	<-entered
	go func() { answers <- insert(t.Context(), table, 2) }()
	waitQueued(engine, 1)
	broken := errors.New("broken")
	go func() {
		failure <- engine.write(t.Context(), 1, func(tx *bolt.Tx) (bool, error) {
			// Damages the transaction before it fails.
			return true, errors.Join(tx.DeleteBucket(dataBucket()), broken)
		})
	}()
	waitQueued(engine, 2)
	go func() { answers <- insert(t.Context(), table, 3) }()
	waitQueued(engine, 3)
	close(proceed)
	for range 3 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if err := <-failure; !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	for id := range int64(3) {
		wantStored(t, table, id+1, nil)
	}
}

func TestTheSizeOfACommitIsBounded(t *testing.T) {
	c := &committer{}
	const each = 1024
	for range each + 1 {
		c.queue = append(c.queue, &write{bytes: maxCommitBytes / each})
	}
	c.queue = append(c.queue, &write{bytes: maxCommitBytes}, &write{bytes: 2 * maxCommitBytes}, &write{bytes: 1})
	for _, want := range []int{each, 1, 1, 1, 1, 0} {
		if got := len(c.take()); got != want {
			t.Fatalf("the commit took %d writes, want %d", got, want)
		}
	}
}

func TestAFullDiskFailsTheWriteButNotTheEngine(t *testing.T) {
	full := true
	engine, table := openTable(t, func(tx *bolt.Tx) error {
		if full {
			return fmt.Errorf("write: %w", syscall.ENOSPC)
		}
		return tx.Commit()
	})
	err := insert(t.Context(), table, 1)
	if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, docstore.ErrUnavailable) {
		t.Fatalf("got error %v", err)
	}
	wantStored(t, table, 1, docstore.ErrNotFound)
	full = false
	must(t, errors.Join(insert(t.Context(), table, 1), engine.Ping(t.Context())))
	wantStored(t, table, 1, nil)
}

func TestAFailedSyncOfDataRefusesTheWriteAndAllLaterWrites(t *testing.T) {
	engine, table := openTable(t, func(*bolt.Tx) error { return syscall.EIO })
	err := insert(t.Context(), table, 1)
	if !errors.Is(err, syscall.EIO) || errors.Is(err, docstore.ErrUnavailable) {
		t.Fatalf("got error %v", err)
	}
	wantStored(t, table, 1, docstore.ErrNotFound)
	engine.commit.finish = (*bolt.Tx).Commit
	wantRefusing(t, engine, table)
	wantStored(t, table, 2, docstore.ErrNotFound)
}

func TestAFailedSyncOfAVisibleCommitLeavesTheOutcomeOpen(t *testing.T) {
	engine, table := openTable(t, func(tx *bolt.Tx) error { return errors.Join(tx.Commit(), syscall.EIO) })
	if err := insert(t.Context(), table, 1); !errors.Is(err, docstore.ErrUnavailable) {
		t.Fatalf("got error %v", err)
	}
	engine.commit.finish = (*bolt.Tx).Commit
	wantRefusing(t, engine, table)
	wantStored(t, table, 1, nil)
}

func wantRefusing(t *testing.T, engine *Engine, table docstore.Table) {
	t.Helper()
	if err := insert(t.Context(), table, 2); !errors.Is(err, docstore.ErrUnavailable) {
		t.Fatalf("a later write: got error %v", err)
	}
	if err := engine.Ping(t.Context()); !errors.Is(err, docstore.ErrUnavailable) {
		t.Fatalf("ping: got error %v", err)
	}
}

func TestALinearizableReadWaitsUntilTheCommitThatItSeesIsSynced(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, table docstore.Table) error{
		"an insert": func(ctx context.Context, table docstore.Table) error { return insert(ctx, table, 2) },
		"a deletion": func(ctx context.Context, table docstore.Table) error {
			return table.Delete(ctx, docstore.Deletion{ID: docstore.ValueOf(int64(2))})
		},
	} {
		t.Run(name, func(t *testing.T) {
			visible, proceed := make(chan struct{}), make(chan struct{})
			engine, table := openTable(t, (*bolt.Tx).Commit)
			if name == "a deletion" {
				must(t, insert(t.Context(), table, 2))
			}
			engine.commit.finish = func(tx *bolt.Tx) error {
				err := tx.Commit()
				close(visible)
				<-proceed
				return errors.Join(err, syscall.EIO) // the last sync fails
			}
			written, read := make(chan error, 1), make(chan error, 1)
			go func() { written <- change(t.Context(), table) }()
			<-visible
			go func() {
				_, err := docstore.GetFrom(t.Context(), table, docstore.ValueOf(int64(2)), docstore.Linearizable)
				read <- err
			}()
			waitQueuedUnless(t, engine, read)
			close(proceed)
			for _, answer := range []chan error{written, read} {
				if err := <-answer; !errors.Is(err, docstore.ErrUnavailable) {
					t.Errorf("got error %v", err)
				}
			}
		})
	}
}

// waitQueuedUnless returns once a call is in the queue. It fails if the call answers first.
func waitQueuedUnless(t *testing.T, engine *Engine, answer chan error) {
	t.Helper()
	for {
		engine.commit.mu.Lock()
		queued := len(engine.commit.queue)
		engine.commit.mu.Unlock()
		if queued == 1 {
			return
		}
		select {
		case err := <-answer:
			answer <- err
			t.Errorf("the call answered %v before the sync", err)
			return
		default:
			runtime.Gosched()
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
