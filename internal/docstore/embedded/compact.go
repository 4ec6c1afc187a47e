package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	// compactingSuffix names the unfinished copy beside the file. A crash may leave it; the
	// next Compact removes it.
	compactingSuffix = ".compacting"
	// compactCommitBytes bounds a transaction of the copy, and with it the memory.
	compactCommitBytes = 16 << 20
	// compactGrowBytes is by how much the copy grows at a time.
	compactGrowBytes = 1 << 20
)

// Compacted reports the size of the file in bytes before and after a compaction.
type Compacted struct{ Before, After int64 }

// Compact checks the file and replaces it by a copy without free pages. It writes the copy
// beside the file, syncs it, checks it, and then renames it. After a crash the file is
// either the old one or the complete new one. The copy keeps owner and permissions, and
// needs free space of up to the size of the file. Cancelling ctx leaves the file unchanged.
//
// No other engine may have the file open. Errors: ErrLocked, fs.ErrNotExist.
func Compact(ctx context.Context, path string) (done Compacted, err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	before, err := os.Stat(path)
	if err != nil {
		return done, err
	}
	// Open for writing also locks out readers, until the file is replaced.
	old, err := open(ctx, systemDisk{}, path, bolt.Options{}, time.Now)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if err := old.Check(ctx); err != nil {
		return done, fmt.Errorf("%s is damaged; restore a backup: %w", path, err)
	}
	copied := path + compactingSuffix
	if err := os.Remove(copied); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	err = old.copyTo(ctx, copied)
	if err == nil {
		err = checkCopy(ctx, copied)
	}
	if err == nil {
		err = TakeAttributes(copied, path)
	}
	var after fs.FileInfo
	if err == nil {
		after, err = os.Stat(copied)
	}
	if err == nil {
		err = os.Rename(copied, path)
	}
	if err != nil {
		if removal := os.Remove(copied); !errors.Is(removal, fs.ErrNotExist) {
			err = errors.Join(err, removal)
		}
		return done, fmt.Errorf("compact %s: %w", path, err)
	}
	return Compacted{Before: before.Size(), After: after.Size()}, syncDirectory(filepath.Dir(path))
}

// copyTo copies all that is stored to a new file, and syncs it.
func (e *Engine) copyTo(ctx context.Context, path string) (err error) {
	var file *os.File
	options := bolt.Options{NoSync: true, NoStatistics: true, FreelistType: bolt.FreelistMapType} // it is synced below
	options.OpenFile = func(name string, flag int, mode fs.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode) // #nosec G304 -- beside the operator's own file
		return file, err
	}
	to, err := bolt.Open(path, 0o600, &options)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = file.Close() }) // bbolt has no other way to stop
	defer func() {
		stop()
		err = errors.Join(ctx.Err(), err, to.Close())
	}()
	to.AllocSize = compactGrowBytes
	if err := bolt.Compact(to, e.db, compactCommitBytes); err != nil {
		return err
	}
	return to.Sync()
}

// checkCopy checks a copy as store check does.
func checkCopy(ctx context.Context, path string) error {
	made, err := OpenReadOnly(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(made.Check(ctx), made.Close())
}

// FreeBytes returns how much of the file the last Check found free for new documents; 0 without
// one.
func (e *Engine) FreeBytes() int64 { return e.free.Load() }

// backupPiece is how much of a copy Backup writes at a time.
const backupPiece = 256 << 10

// Backup writes a copy of the store as it is at one moment. The copy is a store file. begin
// receives its size in bytes before the first write. Writers continue in the meantime, but
// no page that they free can be used again before Backup returns, so the file grows.
//
// A write that blocks holds the store in that state. The caller bounds it.
func (e *Engine) Backup(ctx context.Context, to io.Writer, begin func(bytes int64) error) error {
	return e.view(ctx, func(tx *bolt.Tx) error {
		if err := begin(tx.Size()); err != nil {
			return err
		}
		pieces := bufio.NewWriterSize(cancellable{ctx, to}, backupPiece)
		if _, err := tx.WriteTo(pieces); err != nil {
			return err
		}
		return pieces.Flush()
	})
}

// cancellable is a writer that fails once a context is done.
type cancellable struct {
	ctx context.Context
	to  io.Writer
}

func (c cancellable) Write(piece []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.to.Write(piece)
}
