// Package embedded is the docstore engine that keeps all collections in one file, with
// go.etcd.io/bbolt. It needs no server. One process at a time may open the file for
// writing.
//
// The file holds two buckets: the catalog, with the declarations of collections, and the data. A
// key of the data begins with the numbers of its collection and of its part (see part). What
// follows is, in these parts:
//
//   - the documents: encoded _id → BSON, and moments
//   - each index: encoded fields and _id → nothing
//   - the feed and the tombstones: a moment and the encoded _id → nothing
//
// One tree has all of them, because a commit writes the path from its root to each page that
// changes. With a tree for each part, a write of seven parts would write seven paths.
//
// Writers share commits (see committer). Readers never wait for a commit.
//
// # When a commit fails
//
// bbolt commits in two steps. It syncs the data, then it writes and syncs the meta page
// that makes the data current. The engine acknowledges a write only after both syncs.
//
// If the commit fails before the meta page is written, no reader ever sees its writes.
// They fail with a plain error and have not happened. If the reason is a full disk, the
// engine stays writable, so that an operator can free space.
//
// After any other failure the engine stops writing. The data of the failed sync may be
// lost even if a later sync succeeds. Writes and Ping fail with ErrUnavailable until the
// file is opened again. Reads continue.
//
// If the meta page was written and only its sync failed, the writes of the commit are
// visible but may not be durable. They also fail with ErrUnavailable, which leaves open
// whether they have happened.
//
// An open writes the newest meta page again and syncs the file, and fails if it cannot. So
// opening the file again ends the doubt about the last commit, after a failed sync as after
// a kill: the writes that reads find then are durable.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/internal/drain"
)

// ErrLocked reports that another process, or another Open in this process, has the file
// open.
var ErrLocked = errors.New("the store is in use by another process")

// lockTimeout gives a previous process that is stopping time to release the file.
const lockTimeout = time.Second

// Engine is a docstore.Engine on one file.
type Engine struct {
	db     *bolt.DB
	file   io.ReaderAt
	commit *committer
	// opened is the highest moment of a feed when the file was opened.
	opened docstore.Moment
	calls  drain.Gate
	close  func() error
	// unreleased is the approximate number of bytes that scans have mapped; see scanned.
	unreleased atomic.Int64
	// free is how many bytes of the file the last Check found free.
	free atomic.Int64

	// opening is a semaphore of one, held by the call of Open in progress.
	opening chan struct{}
	tables  map[string]*table
}

var _ docstore.Engine = (*Engine)(nil)

// Open opens the file. It creates the file and its directory if they do not exist. Before it
// returns, everything that reads can find in the file is durable. A file on a network file system
// is refused. Errors: ErrLocked.
func Open(ctx context.Context, path string) (*Engine, error) {
	return openOn(ctx, systemDisk{}, path, time.Now)
}

// OpenWithClock is Open with another clock for the moments of feeds.
func OpenWithClock(path string, now func() time.Time) (*Engine, error) {
	return OpenOn(systemDisk{}, path, now)
}

// OpenOn is OpenWithClock on another disk.
func OpenOn(disk Disk, path string, now func() time.Time) (*Engine, error) {
	return openOn(context.Background(), disk, path, now)
}

func openOn(ctx context.Context, disk Disk, path string, now func() time.Time) (*Engine, error) {
	if err := makeDirectory(disk, filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := refuseNetwork(path); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	if err := createFile(disk, path); err != nil {
		return nil, fmt.Errorf("create store %s: %w", path, err)
	}
	return open(ctx, disk, path, bolt.Options{}, now)
}

// OpenReadOnly opens an existing file and never changes it: every write of the engine
// fails. Any number of processes may open the file this way, as long as none has it open
// for writing. Errors: ErrLocked, fs.ErrNotExist.
func OpenReadOnly(ctx context.Context, path string) (*Engine, error) {
	return open(ctx, systemDisk{}, path, bolt.Options{ReadOnly: true}, time.Now)
}

func open(ctx context.Context, disk Disk, path string, options bolt.Options, now func() time.Time) (*Engine, error) {
	db, file, err := openDatabase(ctx, disk, path, options, checkStore)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	e := &Engine{
		db:      db,
		file:    file,
		commit:  startCommitter(db, now),
		opening: make(chan struct{}, 1),
		tables:  make(map[string]*table),
	}
	e.close = sync.OnceValue(func() error {
		e.calls.Close()
		e.commit.stop()
		return db.Close()
	})
	if e.opened, err = e.readMoments(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), e.close())
	}
	return e, nil
}

// growBytes is by how much the file grows at a time.
const growBytes = 4 << 20

// openBolt opens the file and maps reserve bytes more than it has.
func openBolt(path string, options bolt.Options, reserve int) (*bolt.DB, error) {
	options.Timeout = lockTimeout
	options.FreelistType = bolt.FreelistMapType
	options.NoFreelistSync = true // Close writes the list
	options.NoStatistics = true   // they cost a read a tenth of its time
	if !options.ReadOnly {
		options.InitialMmapSize = reserve
		if info, err := os.Stat(path); err == nil && reserve > 0 {
			options.InitialMmapSize += int(info.Size())
		}
	}
	db, err := bolt.Open(path, 0o600, &options)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, ErrLocked
	}
	if err == nil {
		db.AllocSize = growBytes
	}
	return db, err
}

// makeDirectory makes the store's directory, with those above it, and syncs the parent of each
// that it makes. Otherwise a power failure could remove the directory, and with it a synced file.
func makeDirectory(disk Disk, directory string) error {
	if _, err := os.Stat(directory); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(directory)
	if err := makeDirectory(disk, parent); err != nil {
		return err
	}
	if err := os.Mkdir(directory, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return disk.SyncDirectory(parent)
}

// IsLocal returns true.
func (e *Engine) IsLocal() bool { return true }

// Ping returns an error if a failed commit has stopped the engine from writing.
func (e *Engine) Ping(ctx context.Context) error {
	if err := e.view(ctx, func(*bolt.Tx) error { return nil }); err != nil {
		return err
	}
	return e.commit.failure()
}

// FileBytes returns the size of the file in bytes; 0 once the store is closed.
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

// Commits returns how many commits have succeeded since the store was opened.
func (e *Engine) Commits() int64 { return e.commit.commits.Load() }

// CommittedWrites returns how many writes the successful commits contained.
func (e *Engine) CommittedWrites() int64 { return e.commit.writes.Load() }

// Close waits for the calls in flight, including writes, and releases the file.
func (e *Engine) Close() error {
	return e.close()
}

// view runs a read on a consistent snapshot of the store.
func (e *Engine) view(ctx context.Context, read func(*bolt.Tx) error) error {
	tx, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer e.end(tx)
	_, err = guarded(func() error { return read(tx) })
	return e.noted(err)
}

// noted stops all writes after damage, so that it does not spread.
func (e *Engine) noted(err error) error {
	if found, isDamage := errors.AsType[*DamageError](err); isDamage {
		e.commit.fail(found)
	}
	return err
}

// lend is view for a read whose documents are lent. They are good until the loan ends.
func (e *Engine) lend(ctx context.Context, loan *docstore.Loan, read func(*bolt.Tx) ([]bson.Raw, error)) error {
	tx, err := e.begin(ctx)
	if err != nil {
		return err
	}
	var documents []bson.Raw
	// A fault in what is lent is a panic of the goroutine that reads it.
	panics := debug.SetPanicOnFault(true)
	_, err = guarded(func() (err error) {
		documents, err = read(tx)
		return err
	})
	loan.Lend(documents, func() {
		debug.SetPanicOnFault(panics)
		e.end(tx)
	})
	return e.noted(err)
}

// begin begins a read, which end ends.
func (e *Engine) begin(ctx context.Context) (*bolt.Tx, error) {
	if err := e.enter(ctx); err != nil {
		return nil, err
	}
	tx, err := e.db.Begin(false)
	if err != nil {
		e.calls.Leave()
		return nil, fmt.Errorf("%w: %v", docstore.ErrUnavailable, err)
	}
	return tx, nil
}

func (e *Engine) end(tx *bolt.Tx) {
	_ = tx.Rollback()
	e.calls.Leave()
}

// write runs an operation in a shared commit and returns once it is durable.
func (e *Engine) write(ctx context.Context, bytes int, apply operation) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.calls.Leave()
	if e.db.IsReadOnly() {
		return errors.New("the store is open for reading only")
	}
	return e.commit.do(ctx, &write{apply: apply, bytes: bytes})
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

// guarded runs a step that reads the mapped file. All pages were checked when it was opened, but
// since then the file may be damaged, or its disk may fail: bbolt panics then, or a read of the
// mapping faults.
func guarded(step func() error) (hasPanicked bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		hasPanicked, err = true, damage("%v, in %s", r, placeOfPanic())
		if _, isFault := r.(interface{ Addr() uintptr }); !isFault {
			// a document that is damaged, or a mistake in the code
			if cause, isRuntime := r.(runtime.Error); isRuntime {
				err = fmt.Errorf("the store can't be read: %w, in %s", cause, placeOfPanic())
			}
		}
	}()
	return false, step()
}

// placeOfPanic returns where a panic began; for the deferred function that recovers it.
func placeOfPanic() string {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", frame.Function, frame.Line)
		}
	}
}
