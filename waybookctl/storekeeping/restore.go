package storekeeping

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/backupplace"
	"github.com/waybook/waybook/waybookctl/progress"
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

// Source is a backup to restore.
type Source struct {
	// Name is where the backup is.
	Name string
	// Open opens it.
	Open func() (backupplace.File, error)
	Keys backupplace.Keys
}

// Restore puts a copy of a backup in the place of an embedded store, which no service may have
// open, and none may create meanwhile. It checks the copy as Check checks a file, and reads it again, before it replaces anything. A
// crash leaves the former store or the backup. The former store is kept beside it, under a name with the
// time. A follower of changes that has seen more than the backup has starts anew.
func Restore(ctx context.Context, options Options, backup Source, now time.Time, report progress.Reporter) (done Restored, err error) {
	store := options.Store.File()
	if target, err := filepath.EvalSymlinks(store); err == nil {
		store = target
	}
	done = Restored{Backup: backup.Name, Store: store}
	if err := os.MkdirAll(filepath.Dir(store), 0o700); err != nil {
		return done, err
	}
	isNew, release, err := options.lock(ctx, store)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	copied, kept := store+restoringSuffix, store+formerSuffix+now.UTC().Format(backupTime)
	if done.Bytes, done.SHA256, err = fetch(ctx, backup, copied, report); err == nil {
		err = checkBackup(ctx, copied)
	}
	if err == nil {
		err = embedded.TakeAttributes(copied, store)
	}
	if err == nil && !isNew {
		// A damaged store could not be locked, and may be that of a service by now.
		var releaseAgain func() error
		if isNew, releaseAgain, err = options.lock(ctx, store); err == nil {
			defer func() { err = errors.Join(err, releaseAgain()) }()
		}
	}
	switch {
	case err != nil:
	case isNew:
		if err = atomicfile.Place(copied, store); errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("a service has made a store meanwhile; stop it first: %w", err)
		}
	default:
		if err = os.Link(store, kept); err == nil {
			done.Former = kept
			err = atomicfile.Replace(copied, store)
		}
	}
	if err != nil {
		return done, errors.Join(fmt.Errorf("%s can't be restored, and nothing has changed: %w", backup.Name, err), ignoreMissing(os.Remove(copied)))
	}
	return done, nil
}

// lock keeps services out of a store until release. A damaged store cannot be opened, and is what a restore is for.
func (o Options) lock(ctx context.Context, store string) (isNew bool, release func() error, err error) {
	opened, err := embedded.OpenReadOnly(ctx, store)
	switch {
	case err == nil:
		return false, opened.Close, nil
	case errors.Is(err, embedded.ErrLocked):
		return false, nil, o.explained(err)
	}
	return errors.Is(err, fs.ErrNotExist), func() error { return nil }, nil
}

// checkBackup checks that a file is a store without damage.
func checkBackup(ctx context.Context, path string) error {
	opened, err := embedded.OpenReadOnly(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // it was only read
	if err := opened.Check(ctx); err != nil {
		return fmt.Errorf("the backup is damaged: %w", err)
	}
	return nil
}

// fetch copies a backup to a file, syncs the file, and reads it again. It returns the size and the
// SHA-256 of the store file in the backup.
func fetch(ctx context.Context, backup Source, to string, report progress.Reporter) (size int64, sum string, err error) {
	source, err := backup.Open()
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	report.Start("restoring", progress.Bytes, source.Bytes)
	defer report.Finish()
	decrypted, err := backup.Keys.Decrypt(&progress.Reader{Context: ctx, From: source, Reach: report.Reach})
	if err != nil {
		return 0, "", err
	}
	total := sha256.New()
	if err := atomicfile.Write(to, dumpPermissions, func(file io.Writer) error {
		size, err = io.Copy(io.MultiWriter(total, file), decrypted)
		return err
	}); err != nil {
		return 0, "", err
	}
	written, err := os.Open(to)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = written.Close() }() // it was only read
	again := sha256.New()
	if _, err := io.Copy(again, &progress.Reader{Context: ctx, From: written, Reach: func(int64) {}}); err != nil {
		return 0, "", err
	}
	if !bytes.Equal(total.Sum(nil), again.Sum(nil)) {
		return 0, "", fmt.Errorf("%s differs from %s: the disk does not keep what is written to it", to, backup.Name)
	}
	return size, hex.EncodeToString(total.Sum(nil)), nil
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

// Rehearsed describes a rehearsal.
type Rehearsed struct {
	Backup    string `json:"backup"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	Documents int64  `json:"documents"`
}

// Rehearse restores a backup into a new directory within scratch, checks every page, document and index
// of it, and removes the directory. services are those of the store, as in Options.
func Rehearse(ctx context.Context, backup Source, scratch string, services []string, now time.Time, report progress.Reporter) (done Rehearsed, err error) {
	done.Backup = backup.Name
	directory, err := os.MkdirTemp(scratch, "waybook-rehearsal-")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	options := Options{Store: service.StoreFlags{Data: directory}, Services: services}
	restored, err := Restore(ctx, options, backup, now, report)
	if err != nil {
		return done, err
	}
	done.Bytes, done.SHA256 = restored.Bytes, restored.SHA256
	checked, err := Check(ctx, options, integrity.Look)
	if err != nil {
		return done, err
	}
	for _, collection := range checked.Collections {
		done.Documents += collection.Documents
	}
	for _, finding := range checked.Findings {
		err = errors.Join(err, fmt.Errorf("the restored store has faults: %s of %s: %d. %s", finding.Kind, finding.Collection, finding.Count, finding.Detail))
	}
	return done, err
}
