// Package embedded is the docstore engine that keeps everything in one file, with
// go.etcd.io/bbolt. It needs no server; one process at a time has the file.
//
// The file holds a bucket per collection (encoded _id → BSON), a bucket per index
// (encoded fields and _id → nothing) and a catalog of the declarations that the
// index buckets were built for. Writers share commits (see committer), readers
// never wait for a commit.
//
// # When a commit fails
//
// Nothing is acknowledged before both of bbolt's syncs, of the data and of the
// page that makes it current, have succeeded. When the failure comes before that
// page was written, no reader ever sees the writes of that commit: they get a
// plain error, and have not happened. A full disk is such a failure and the
// engine goes on, so that space can be made. Any other failure means that the
// file can't be trusted to take writes: what the failed sync should have written
// may be lost although a later sync succeeds. Writes and Ping then fail with
// ErrUnavailable until the file is opened anew; reads go on. If the page had been
// written already and only its sync failed, the writes of that commit are visible
// but perhaps not durable; they too get ErrUnavailable, which leaves it open
// whether they happened.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/internal/drain"
)

// ErrLocked says that another process, or another Open, has the file.
var ErrLocked = errors.New("the store is in use by another process")

// lockTimeout is long enough for a predecessor that is just stopping.
const lockTimeout = time.Second

// Engine is a docstore.Engine on one file.
type Engine struct {
	db     *bolt.DB
	commit *committer
	calls  drain.Gate
	close  func() error
	// unreleased is about how many bytes of the file scans have mapped; see scanned.
	unreleased atomic.Int64

	// opening is held, as its one element, by the call of Open that is under way.
	opening chan struct{}
	tables  map[string]*table
}

var _ docstore.Engine = (*Engine)(nil)

// Open opens the file, or makes it and its directory. Errors: ErrLocked.
func Open(path string) (*Engine, error) {
	if err := makeDirectory(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return open(path, bolt.Options{}, prepareFile)
}

// OpenReadOnly opens a file that exists and leaves it as it is: every write of the engine
// fails. Any number of processes may have the file open that way, as long as none has it
// open otherwise. Errors: ErrLocked, fs.ErrNotExist.
func OpenReadOnly(path string) (*Engine, error) {
	return open(path, bolt.Options{ReadOnly: true}, func(db *bolt.DB) error {
		return db.View(func(tx *bolt.Tx) error {
			known, err := checkFormat(tx)
			if err == nil && !known {
				return errors.New("the file is empty")
			}
			return err
		})
	})
}

func open(path string, options bolt.Options, prepare func(*bolt.DB) error) (*Engine, error) {
	options.Timeout = lockTimeout
	options.FreelistType = bolt.FreelistMapType
	options.NoStatistics = true
	db, err := bolt.Open(path, 0o600, &options)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open store %s: %w", path, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	if err := prepare(db); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), db.Close())
	}
	e := &Engine{
		db:      db,
		commit:  startCommitter(db),
		opening: make(chan struct{}, 1),
		tables:  make(map[string]*table),
	}
	e.close = sync.OnceValue(func() error {
		e.calls.Close()
		e.commit.stop()
		return db.Close()
	})
	return e, nil
}

// makeDirectory makes the store's directory, durably: a synced file in a directory
// that is itself gone after a power cut would be lost.
func makeDirectory(directory string) error {
	if _, err := os.Stat(directory); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(directory))
}

// prepareFile makes a new file durable and refuses one of another format.
func prepareFile(db *bolt.DB) error {
	known := false
	err := db.View(func(tx *bolt.Tx) error {
		var err error
		known, err = checkFormat(tx)
		return err
	})
	if err != nil || known {
		return err
	}
	if err := db.Update(writeFormat); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(db.Path()))
}

// Ping fails when a failed commit has made the file unfit for writes.
func (e *Engine) Ping(ctx context.Context) error {
	if err := e.view(ctx, func(*bolt.Tx) error { return nil }); err != nil {
		return err
	}
	return e.commit.failure()
}

// FileBytes is the size of the file; zero once the store is closed.
func (e *Engine) FileBytes() int64 {
	if !e.calls.Enter() {
		return 0
	}
	defer e.calls.Leave()
	info, err := os.Stat(e.db.Path())
	if err != nil {
		return 0
	}
	return info.Size()
}

// Commits is how many commits have succeeded, and CommittedWrites how many writes
// shared them.
func (e *Engine) Commits() int64 { return e.commit.commits.Load() }

// CommittedWrites: see Commits.
func (e *Engine) CommittedWrites() int64 { return e.commit.writes.Load() }

// Close waits for calls under way, writes included, and releases the file.
func (e *Engine) Close() error {
	return e.close()
}

// view runs a read on one state of the store.
func (e *Engine) view(ctx context.Context, read func(*bolt.Tx) error) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.calls.Leave()
	tx, err := e.db.Begin(false)
	if err != nil {
		return fmt.Errorf("%w: %v", docstore.ErrUnavailable, err)
	}
	defer func() { _ = tx.Rollback() }()
	return read(tx)
}

// write runs an operation in a shared commit and returns when it is durable.
func (e *Engine) write(ctx context.Context, bytes int, apply operation) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.calls.Leave()
	if e.db.IsReadOnly() {
		return errors.New("the store was opened for reading only")
	}
	return e.commit.do(ctx, bytes, apply)
}

func (e *Engine) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.calls.Enter() {
		return fmt.Errorf("%w: the store is closed", docstore.ErrUnavailable)
	}
	return nil
}
