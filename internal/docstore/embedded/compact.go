package embedded

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
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
	// compactFill is how full the pages of the copy are. bbolt leaves them half full. A full
	// page would be split by the first insert in it.
	compactFill = 0.9
)

// Compacted reports the size of the file in bytes before and after a compaction.
type Compacted struct{ Before, After int64 }

// Compact checks the file and replaces it by a copy without free pages. It writes the copy
// beside the file, syncs it, reads it again, and then renames it. After a crash the file is
// either the old one or the complete new one. The copy keeps owner and permissions, and
// needs free space of up to the size of the file. Cancelling ctx leaves the file unchanged.
//
// progress receives how many documents and index entries are copied so far.
//
// No other engine may have the file open. Errors: ErrLocked, fs.ErrNotExist.
func Compact(ctx context.Context, path string, progress func(entries int64)) (done Compacted, err error) {
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
	var sum []byte
	err = old.view(ctx, func(tx *bolt.Tx) error {
		sum, err = copyPacked(ctx, tx, copied, progress)
		return err
	})
	if err == nil {
		err = checkCopy(ctx, copied, sum)
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

// copyPacked copies all buckets to a new file, and syncs it. It returns the checksum of what
// it read.
func copyPacked(ctx context.Context, from *bolt.Tx, path string, progress func(int64)) (sum []byte, err error) {
	to, err := bolt.Open(path, 0o600, &bolt.Options{
		NoSync: true, NoFreelistSync: true, NoStatistics: true, FreelistType: bolt.FreelistMapType, // it is synced below
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	to.AllocSize = compactGrowBytes
	p := packer{ctx: ctx, to: to, progress: progress, sum: sha256.New()}
	if err := from.ForEach(p.copyBucket); err != nil {
		return nil, errors.Join(err, p.rollback())
	}
	to.NoFreelistSync = false
	if err := p.commit(); err != nil {
		return nil, err
	}
	return p.sum.Sum(nil), to.Sync()
}

// packer copies entries in transactions of bounded size.
type packer struct {
	ctx      context.Context
	to       *bolt.DB
	progress func(int64)

	tx      *bolt.Tx
	size    int
	entries int64
	sum     hash.Hash
}

// copyBucket copies a bucket. No bucket of a store has buckets inside.
func (p *packer) copyBucket(name []byte, from *bolt.Bucket) error {
	if err := p.begin(); err != nil {
		return err
	}
	if _, err := p.tx.CreateBucket(name); err != nil {
		return err
	}
	addTo(p.sum, name)
	cursor := from.Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if value == nil {
			return fmt.Errorf("bucket %q has a bucket inside", name)
		}
		if err := p.put(name, key, value); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) put(name, key, value []byte) error {
	if p.size >= compactCommitBytes {
		if err := p.commit(); err != nil {
			return err
		}
		if err := p.begin(); err != nil {
			return err
		}
	}
	p.size += len(key) + len(value) + entryCost
	p.entries++
	addTo(p.sum, key, value)
	bucket := p.tx.Bucket(name)
	bucket.FillPercent = compactFill
	return bucket.Put(key, value)
}

func (p *packer) begin() (err error) {
	if p.tx != nil {
		return nil
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	p.size = 0
	p.tx, err = p.to.Begin(true)
	return err
}

func (p *packer) commit() error {
	if err := p.begin(); err != nil {
		return err
	}
	tx := p.tx
	p.tx = nil
	p.progress(p.entries)
	return tx.Commit()
}

func (p *packer) rollback() error {
	if p.tx == nil {
		return nil
	}
	return p.tx.Rollback()
}

// checkCopy checks a copy as store check does, and that it holds what was read.
func checkCopy(ctx context.Context, path string, want []byte) error {
	made, err := OpenReadOnly(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }() // it was only read
	if err := made.Check(ctx); err != nil {
		return err
	}
	sum := sha256.New()
	err = made.view(ctx, func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bolt.Bucket) error {
			addTo(sum, name)
			return bucket.ForEach(func(key, value []byte) error {
				addTo(sum, key, value)
				return ctx.Err()
			})
		})
	})
	if err == nil && !bytes.Equal(sum.Sum(nil), want) {
		err = errors.New("the copy differs from the file")
	}
	return err
}

// addTo adds parts to a checksum, each with its length.
func addTo(sum hash.Hash, parts ...[]byte) {
	for _, part := range parts {
		var length [8]byte
		binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = sum.Write(length[:]) // never fails
		_, _ = sum.Write(part)
	}
}

// FreeBytes returns how much of the file the last Check found free for new documents; 0 without one.
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
