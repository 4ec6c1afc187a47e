package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// maxCommitBytes bounds how much memory one commit takes, approximately, and so how long its
// writers wait. A larger operation gets a commit of its own.
const maxCommitBytes = 32 << 20

// operation is one writer's part of a transaction. It makes all checks before its first
// change and reports whether it has changed anything. A refusal, such as a duplicate, is
// not an error here; the operation keeps it as its own result.
//
// If an operation of the transaction fails, each of them may run again in another
// transaction. So an operation must not depend on state of an earlier run.
type operation func(tx *bolt.Tx) (changed bool, err error)

// write is an operation that is queued or in progress.
type write struct {
	apply operation
	bytes int
	stage atomic.Int32
	// done receives the result. It is buffered, so a writer may stop waiting for it.
	done chan error
}

const (
	queued = iota
	begun
	dropped
)

// committer is the only writer of the file. Writes that arrive during a commit wait in a
// queue, and the next commit takes all of them. So many writers share the cost of a
// sync, and a single writer waits for no other.
type committer struct {
	db *bolt.DB
	// finish is (*bolt.Tx).Commit; tests replace it to make commits fail.
	finish  func(*bolt.Tx) error
	wake    chan struct{}
	stopped chan struct{}
	// moments stamps writes.
	moments moments
	// commits and writes count the successful commits and the writes in them.
	commits, writes atomic.Int64

	mu     sync.Mutex
	queue  []*write
	failed error
}

func startCommitter(db *bolt.DB, now func() time.Time) *committer {
	c := &committer{
		db:      db,
		finish:  (*bolt.Tx).Commit,
		moments: moments{now: now},
		wake:    make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	go c.run()
	return c
}

// stop waits for the last commit. do must not be called after it.
func (c *committer) stop() {
	close(c.wake)
	<-c.stopped
}

// failure returns an error once the file must not be written any more.
func (c *committer) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// fail stops all later writes.
func (c *committer) fail(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = fmt.Errorf("%w: %v", docstore.ErrUnavailable, cause)
	}
}

// do runs an operation in one of the next commits. If ctx ends before the operation has
// begun, the operation never runs. If it ends later, the operation may still run when do
// returns, so after an error its caller must not touch the variables that it writes.
func (c *committer) do(ctx context.Context, w *write) error {
	w.done = make(chan error, 1)
	c.mu.Lock()
	c.queue = append(c.queue, w)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		w.stage.CompareAndSwap(queued, dropped)
		return ctx.Err()
	}
}

func (c *committer) run() {
	defer close(c.stopped)
	defer c.writeFreeList()
	for range c.wake {
		for batch := c.take(); len(batch) > 0; batch = c.take() {
			c.commitAll(batch)
		}
	}
}

// take removes as many writes from the queue as one commit may hold, and marks them as
// begun.
func (c *committer) take() []*write {
	c.mu.Lock()
	defer c.mu.Unlock()
	var batch []*write
	bytes, taken := 0, 0
	for _, w := range c.queue {
		if len(batch) > 0 && bytes+w.bytes > maxCommitBytes {
			break
		}
		taken++
		if w.stage.CompareAndSwap(queued, begun) {
			batch = append(batch, w)
			bytes += w.bytes
		}
	}
	rest := copy(c.queue, c.queue[taken:])
	clear(c.queue[rest:])
	c.queue = c.queue[:rest]
	return batch
}

// commitAll commits a batch and sends each writer its result. If an operation fails, each gets a
// commit of its own.
func (c *committer) commitAll(batch []*write) {
	spoilt, err := c.commit(batch)
	if len(batch) > 1 && spoilt {
		for _, w := range batch {
			c.commitAll([]*write{w})
		}
		return
	}
	for _, w := range batch {
		w.done <- err
	}
}

// commit runs a batch in one transaction. spoilt is true if an operation failed. Then
// nothing has happened, and the caller may run the other operations without that one.
func (c *committer) commit(batch []*write) (spoilt bool, err error) {
	hasPanicked, err := guarded(func() (err error) {
		spoilt, err = c.try(batch)
		return err
	})
	if hasPanicked {
		c.fail(err)
	}
	return spoilt, err
}

func (c *committer) try(batch []*write) (spoilt bool, err error) {
	if err := c.failure(); err != nil {
		return false, err
	}
	tx, err := c.db.Begin(true)
	if err != nil {
		return false, fmt.Errorf("%w: %v", docstore.ErrUnavailable, err)
	}
	defer func() { _ = tx.Rollback() }()
	c.moments.shown = docstore.Moment(c.moments.durable.Load()) // without the stamps of a commit that failed
	changed := false
	for _, w := range batch {
		has, err := w.apply(tx)
		if err != nil {
			return true, err
		}
		changed = changed || has
	}
	if !changed {
		return false, nil
	}
	id := tx.ID()
	if err := c.finish(tx); err != nil {
		_ = tx.Rollback()
		return false, c.commitFailed(id, err)
	}
	c.moments.committed()
	c.commits.Add(1)
	c.writes.Add(int64(len(batch)))
	return false, nil
}

// commitFailed returns the error for the writes of a failed commit, and stops later
// writes if necessary (see the package comment).
func (c *committer) commitFailed(id int, cause error) error {
	current, err := c.currentTransaction()
	visible := err != nil || current >= id
	if visible || !isLackOfSpace(cause) {
		c.fail(fmt.Errorf("an earlier commit failed; reopen the store: %v", cause))
	}
	if visible {
		return fmt.Errorf("%w: the commit may not be durable: %v", docstore.ErrUnavailable, errors.Join(cause, err))
	}
	return fmt.Errorf("commit: %w", cause)
}

// currentTransaction returns the id of the last transaction that readers see.
func (c *committer) currentTransaction() (int, error) {
	tx, err := c.db.Begin(false)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	return tx.ID(), nil
}

// isLackOfSpace reports whether a commit failed because the disk is full. bbolt does not
// say why it could not enlarge the file, but at that point it has written nothing.
func isLackOfSpace(err error) bool {
	return isDiskFull(err) || strings.Contains(err.Error(), "file resize error")
}

// writeFreeList writes the list of free pages. bbolt would write it with each commit, 8 bytes for
// each free page; so commits leave it out. A start without it has to find the free pages by a walk
// over all others, which is slower, so a failure is no error.
func (c *committer) writeFreeList() {
	if c.commits.Load() == 0 || c.failure() != nil {
		return
	}
	_, _ = guarded(func() error {
		tx, err := c.db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		c.db.NoFreelistSync = false
		return c.finish(tx)
	})
}
