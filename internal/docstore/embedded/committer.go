package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"github.com/waybook/waybook/internal/docstore"
)

// A commit takes at most so much, lest it make everyone in it wait for long or
// hold much memory; one operation that is larger goes alone.
const (
	maxCommitWrites = 1024
	maxCommitBytes  = 8 << 20
)

// operation is one writer's part of a transaction. It checks everything before it
// changes anything and tells whether it has; what it refuses is its own result and
// not its error. After an error, or when another one in the transaction failed, it
// may be run again in another transaction and must start from nothing.
type operation func(tx *bolt.Tx) (changed bool, err error)

// write is an operation on its way through the committer.
type write struct {
	apply operation
	bytes int
	stage atomic.Int32
	// done gets the one answer; its buffer lets a writer leave without it.
	done chan error
}

const (
	queued = iota
	begun
	dropped
)

// committer is the only writer of the file. While one commit is syncing, writes
// queue; the next commit takes all of them, so that many writers share the price
// of a sync and a single one waits for nobody.
type committer struct {
	db *bolt.DB
	// finish is (*bolt.Tx).Commit; tests make it fail.
	finish  func(*bolt.Tx) error
	wake    chan struct{}
	stopped chan struct{}
	// commits have succeeded, with as many writes.
	commits, writes atomic.Int64

	mu     sync.Mutex
	queue  []*write
	failed error
}

func startCommitter(db *bolt.DB) *committer {
	c := &committer{
		db:      db,
		finish:  (*bolt.Tx).Commit,
		wake:    make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	go c.run()
	return c
}

// stop waits for the last commit. Nobody calls do any more.
func (c *committer) stop() {
	close(c.wake)
	<-c.stopped
}

// failure is not nil once the file must not be written any more.
func (c *committer) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// do runs an operation in some commit. When ctx ends first, an operation that has
// not begun never will.
func (c *committer) do(ctx context.Context, bytes int, apply operation) error {
	w := &write{apply: apply, bytes: bytes, done: make(chan error, 1)}
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
	for range c.wake {
		for batch := c.take(); len(batch) > 0; batch = c.take() {
			c.commitAll(batch)
		}
	}
}

// take begins as many of the queued writes as one commit may have.
func (c *committer) take() []*write {
	c.mu.Lock()
	defer c.mu.Unlock()
	var batch []*write
	bytes, taken := 0, 0
	for _, w := range c.queue {
		if len(batch) > 0 && (len(batch) == maxCommitWrites || bytes+w.bytes > maxCommitBytes) {
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

// commitAll commits a batch and answers everyone in it.
func (c *committer) commitAll(batch []*write) {
	spoilt, err := c.commit(batch)
	if spoilt && len(batch) > 1 {
		for _, w := range batch {
			_, err := c.commit([]*write{w})
			w.done <- err
		}
		return
	}
	for _, w := range batch {
		w.done <- err
	}
}

// commit runs a batch in one transaction. It is spoilt when an operation failed:
// then nothing has happened and the others may be tried without that one.
func (c *committer) commit(batch []*write) (spoilt bool, err error) {
	if err := c.failure(); err != nil {
		return false, err
	}
	tx, err := c.db.Begin(true)
	if err != nil {
		return false, fmt.Errorf("%w: %v", docstore.ErrUnavailable, err)
	}
	defer func() { _ = tx.Rollback() }()
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
	c.commits.Add(1)
	c.writes.Add(int64(len(batch)))
	return false, nil
}

// commitFailed tells what a failed commit of a transaction means for its writes,
// and for all later ones (see the package comment).
func (c *committer) commitFailed(id int, cause error) error {
	current, err := c.currentTransaction()
	visible := err != nil || current >= id
	if visible || !isLackOfSpace(cause) {
		c.mu.Lock()
		c.failed = fmt.Errorf("%w: an earlier commit failed, open the store anew: %v", docstore.ErrUnavailable, cause)
		c.mu.Unlock()
	}
	if visible {
		return fmt.Errorf("%w: the commit may not be durable: %v", docstore.ErrUnavailable, errors.Join(cause, err))
	}
	return fmt.Errorf("commit: %w", cause)
}

// currentTransaction is the id of the last transaction that readers see.
func (c *committer) currentTransaction() (int, error) {
	tx, err := c.db.Begin(false)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	return tx.ID(), nil
}

// isLackOfSpace tells a lack of space from a failing disk. bbolt hides the reason why
// a file could not be made larger, but then it has written nothing yet.
func isLackOfSpace(err error) bool {
	return isDiskFull(err) || strings.Contains(err.Error(), "file resize error")
}
