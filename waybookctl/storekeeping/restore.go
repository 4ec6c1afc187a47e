package storekeeping

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/waybookctl/atomicfile"
)

// Restored describes a restore.
type Restored struct {
	Backup string `json:"backup"`
	Store  string `json:"store"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Former is where the store is that was replaced; empty if there was none.
	Former string `json:"former,omitempty"`
}

const (
	// restoringSuffix names the copy beside the store before it takes the store's place.
	restoringSuffix = ".restoring"
	formerSuffix    = ".before-"
)

// Restore puts a copy of a backup in the place of an embedded store, which no service may have
// open. It checks the backup as Check checks a file, and the copy against it, before it
// replaces anything. A crash leaves the former store or the backup. The former store is kept
// beside it, under a name with the time. A follower of changes that has seen more than the
// backup has starts anew. progress receives how many bytes are copied.
func Restore(ctx context.Context, options Options, backup string, now time.Time, progress func(copied, size int64)) (done Restored, err error) {
	if err := checkBackup(ctx, backup); err != nil {
		return done, err
	}
	store := options.Store.File()
	if target, err := filepath.EvalSymlinks(store); err == nil {
		store = target
	}
	done = Restored{Backup: backup, Store: store}
	if err := os.MkdirAll(filepath.Dir(store), 0o700); err != nil {
		return done, err
	}
	// The lock keeps services out until the store is replaced. A damaged store cannot be
	// opened, and is what a restore is for.
	former, err := embedded.OpenReadOnly(store)
	if errors.Is(err, embedded.ErrLocked) {
		return done, options.explained(err)
	}
	if err == nil {
		defer func() { err = errors.Join(err, former.Close()) }()
	}
	copied := store + restoringSuffix
	if done.Bytes, done.SHA256, err = copyVerified(ctx, backup, copied, progress); err != nil {
		return done, errors.Join(err, ignoreMissing(os.Remove(copied)))
	}
	kept := store + formerSuffix + now.UTC().Format(backupTime)
	switch err := os.Link(store, kept); {
	case err == nil:
		done.Former = kept
	case !errors.Is(err, fs.ErrNotExist):
		return done, errors.Join(fmt.Errorf("keep the former store: %w", err), ignoreMissing(os.Remove(copied)))
	}
	return done, atomicfile.Replace(copied, store)
}

// checkBackup checks that a file is a store without damage.
func checkBackup(ctx context.Context, path string) error {
	opened, err := embedded.OpenReadOnly(path)
	if err != nil {
		return fmt.Errorf("the backup can't be restored, and nothing has changed: %w", err)
	}
	defer func() { _ = opened.Close() }() // it was only read
	if err := opened.Check(ctx); err != nil {
		return fmt.Errorf("the backup %s is damaged, and nothing has changed: %w", path, err)
	}
	return nil
}

// copyVerified copies a file, syncs the copy, and reads it again. It returns the size and the
// SHA-256 of both.
func copyVerified(ctx context.Context, from, to string, progress func(copied, size int64)) (size int64, sum string, err error) {
	source, err := os.Open(from)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = source.Close() }() // it was only read
	info, err := source.Stat()
	if err != nil {
		return 0, "", err
	}
	read := &hashed{ctx: ctx, from: source, sum: sha256.New(), progress: func(copied int64) { progress(copied, info.Size()) }}
	if err := atomicfile.Write(to, dumpPermissions, func(file io.Writer) error {
		_, err := io.Copy(file, read)
		return err
	}); err != nil {
		return 0, "", err
	}
	written, err := os.Open(to)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = written.Close() }() // it was only read
	again := &hashed{ctx: ctx, from: written, sum: sha256.New(), progress: func(int64) {}}
	if _, err := io.Copy(io.Discard, again); err != nil {
		return 0, "", err
	}
	if total := read.sum.Sum(nil); bytes.Equal(total, again.sum.Sum(nil)) {
		return read.bytes, hex.EncodeToString(total), nil
	}
	return 0, "", fmt.Errorf("%s differs from %s: the disk does not keep what is written to it", to, from)
}

// hashed is a reader that computes the checksum of what is read.
type hashed struct {
	ctx      context.Context
	from     io.Reader
	sum      hash.Hash
	bytes    int64
	progress func(bytes int64)
}

// Read reads until the context is done.
func (h *hashed) Read(into []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := h.from.Read(into)
	_, _ = h.sum.Write(into[:n]) // never fails
	h.bytes += int64(n)
	h.progress(h.bytes)
	return n, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Compacted is what Compact did.
type Compacted struct {
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
}

// Compact returns the free space of an embedded store's file to the file system. No service may
// have the store open. Its progress is the number of documents and index entries that are copied.
func Compact(ctx context.Context, options Options) (Compacted, error) {
	if options.Store.MongoDBURI != "" {
		return Compacted{}, errors.New("only an embedded store can be compacted; MongoDB has the command compact")
	}
	done, err := embedded.Compact(ctx, options.Store.File(), func(entries int64) { options.progress("", entries) })
	return Compacted{BytesBefore: done.Before, BytesAfter: done.After}, options.explained(err)
}
