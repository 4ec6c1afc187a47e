package storekeeping

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/directory"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/progress"
	"github.com/waybook/waybook/waybookctl/atomicfile"
)

// Restored describes a restore.
type Restored struct {
	Manifest

	Backup string `json:"backup"`
	Store  string `json:"store"`
	// Former is where the store is that was replaced; empty if there was none.
	Former string `json:"former,omitempty"`
}

// Source is a backup to restore.
type Source struct {
	// Name is where the backup is.
	Name string
	io.Reader
	// Bytes is the size of the backup; 0 if it is unknown.
	Bytes int64
}

// Restore puts the store of a backup in the place of an embedded store, which no service may have
// open, and none may create meanwhile. It writes a copy, reads it again, compares it with the
// manifest, and checks it as Check checks a file, before it replaces anything. It gets another
// identifier. A crash leaves the former store or the backup. The former store is kept beside it,
// under a name with the time.
//
// The files of photos come to those that are there, before the store. A sweep of the service
// deletes those that no photo of the store has, a day later: also those of the former store.
func Restore(ctx context.Context, options Options, backup Source, now time.Time,
	report progress.Reporter) (done Restored, err error) {
	store := options.Store.File()
	if target, err := filepath.EvalSymlinks(store); err == nil {
		store = target
	}
	done = Restored{Backup: backup.Name, Store: store}
	copied, former := store+".restoring", store+".before-"+now.UTC().Format(backupTime)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s can't be restored, and nothing has changed: %w", backup.Name, err),
				ignoreMissing(os.Remove(copied)))
		}
	}()
	if err := os.MkdirAll(filepath.Dir(store), 0o700); err != nil {
		return done, err
	}
	if _, release, err := options.lock(ctx, store); err != nil { // early: what follows may take minutes
		return done, err
	} else if err := release(); err != nil {
		return done, err
	}
	report.Start("restoring", progress.Bytes, backup.Bytes)
	photos := &photoReader{directory: filepath.Join(options.Store.Data, service.PhotosDirectory), like: store,
		sum: sha256.New()}
	done.Manifest, err = unpack(ctx, &progress.Reader{Context: ctx, From: backup, Reach: report.Reach}, copied, photos)
	err = errors.Join(err, photos.close())
	report.Finish()
	if err == nil {
		err = verify(ctx, copied, done.SHA256)
	}
	if err == nil {
		err = embedded.RenewFile(copied) // followers of changes may have seen more than it has
	}
	if err == nil {
		err = embedded.TakeAttributes(copied, store)
	}
	if err != nil {
		return done, err
	}
	isNew, release, err := options.lock(ctx, store)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if isNew {
		return done, atomicfile.Place(copied, store) // fails if a service has just made one
	}
	if err := os.Link(store, former); err != nil {
		return done, err
	}
	done.Former = former
	return done, atomicfile.Replace(copied, store)
}

// lock keeps services out of a store until release. A damaged store cannot be opened, and is what
// a restore is for.
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

// unpack writes the store of a backup to a file, and returns the manifest. Members of other names
// are of later formats.
func unpack(ctx context.Context, backup io.Reader, to string, photos *photoReader) (found Manifest, err error) {
	archive, hasStore, hasManifest := tar.NewReader(backup), false, false
	for !hasManifest && err == nil {
		var member *tar.Header
		if member, err = archive.Next(); err != nil {
			break
		}
		switch member.Name {
		case storeMember:
			hasStore = true
			err = atomicfile.Write(to, dumpPermissions, func(file io.Writer) error { _, err := io.Copy(file, archive); return err }) // #nosec G110 -- a tar is not compressed
		case manifestMember:
			hasManifest = true
			if err = json.NewDecoder(io.LimitReader(archive, 1<<20)).Decode(&found); err != nil {
				err = fmt.Errorf("its %s is damaged: %w", manifestMember, err)
			}
		default:
			if name, isPhoto := strings.CutPrefix(member.Name, photosMembers); isPhoto {
				err = photos.read(ctx, name, archive)
			}
		}
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the backup is truncated")
	case errors.Is(err, tar.ErrHeader):
		err = fmt.Errorf("it is damaged, or no file that \"store backup\" wrote: %w", err)
	case err != nil:
	case found.Format != backupFormat:
		err = fmt.Errorf("the backup has format %d, and this waybookctl reads format %d", found.Format, backupFormat)
	case !hasStore:
		err = fmt.Errorf("the backup is damaged: it has no %s", storeMember)
	case found.Photos.Files != photos.files || found.Photos.SHA256 != hex.EncodeToString(photos.sum.Sum(nil)):
		err = fmt.Errorf("the backup or the disk is damaged: it has %d files of photos with the SHA-256 %x, and the "+
			"manifest says %d and %s",
			photos.files, photos.sum.Sum(nil), found.Photos.Files, found.Photos.SHA256)
	}
	return found, err
}

// photoReader puts the files of photos in their place.
type photoReader struct {
	// directory has those of all collections. They get the owner of the store like.
	directory, like string
	sum             hash.Hash
	files           int64
	opened          map[string]*directory.Store
}

// isCollection matches the name of a collection, which leads to no other directory.
var isCollection = regexp.MustCompile(`^[a-z0-9_]+$`)

// read stores a file with a name in a backup.
func (p *photoReader) read(ctx context.Context, name string, content io.Reader) error {
	collection, rest, _ := strings.Cut(name, "/")
	key, isKey := blob.ParseName(rest)
	if !isKey || !isCollection.MatchString(collection) {
		return nil // the manifest does not count it, unless it is of a later format
	}
	store, isOpen := p.opened[collection]
	if !isOpen {
		var err error
		if store, err = directory.Open(filepath.Join(p.directory, collection)); err != nil {
			return err
		}
		if p.opened == nil {
			p.opened = map[string]*directory.Store{}
		}
		p.opened[collection] = store
	}
	p.files++
	_, _ = io.WriteString(p.sum, name) // never fails
	// What is there has the same content, unless the disk has damaged it.
	if err := store.Delete(ctx, key); err != nil {
		return err
	}
	return store.Put(ctx, key, io.TeeReader(content, p.sum))
}

// close closes the collections, and gives their files to the owner of the store.
func (p *photoReader) close() error {
	var failed []error
	for _, store := range p.opened {
		failed = append(failed, store.Close())
	}
	if len(p.opened) == 0 || os.Geteuid() != 0 {
		return errors.Join(failed...)
	}
	return errors.Join(append(failed, embedded.GiveAll(p.directory, p.like))...)
}

// verify compares a file with the checksum of a manifest, and checks that it is a store without
// damage.
func verify(ctx context.Context, path, want string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, &progress.Reader{Context: ctx, From: file, Reach: func(int64) {}}); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("the backup or the disk is damaged: %s has the SHA-256 %s, and the manifest says %s", path,
			got, want)
	}
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

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
