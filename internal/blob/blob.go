// Package blob is the port to the files of photos: the original, the view and the thumbnail of
// each. Package directory keeps them beside the embedded store, and package gridfs in MongoDB.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// Kind is which file of a photo a blob is.
type Kind string

// The kinds of blobs, in the order of their keys.
const (
	Original  Kind = "original"
	Thumbnail Kind = "thumb"
	View      Kind = "view"
)

// Kinds is how many kinds there are.
const Kinds = 3

// Key names a blob. The zero Key is before all others.
type Key struct {
	// File is the identifier of an uploaded file. It is not that of the photo, which has none
	// before it is stored, and the files are stored first.
	File int64
	Kind Kind
}

// spread is by how many groups names begin with, so that no directory has all files.
const spread = 1000

// Name returns the name of a valid key, as in 456/0000890123456456-view: the end of the
// identifier, the identifier, and the kind. Keys are in the order of their names.
func (k Key) Name() string {
	if k == (Key{}) {
		return ""
	}
	return fmt.Sprintf("%03d/%016d-%s", k.File%spread, k.File, k.Kind)
}

// maxFile bounds an identifier: one above it would have a longer name. Identifiers end at 2⁵³.
const maxFile = 1e16 - 1

// Validate returns an error for a key that names no blob.
func (k Key) Validate() error {
	switch {
	case k.File <= 0 || k.File > maxFile:
		return fmt.Errorf("blob: %d is no identifier of a file", k.File)
	case k.Kind != Original && k.Kind != Thumbnail && k.Kind != View:
		return fmt.Errorf("blob: %q is no kind", k.Kind)
	}
	return nil
}

// ParseName returns the key with a name.
func ParseName(name string) (key Key, isName bool) {
	var group int64
	if _, err := fmt.Sscanf(name, "%03d/%016d-%s", &group, &key.File, &key.Kind); err != nil {
		return Key{}, false
	}
	return key, key.Validate() == nil && key.Name() == name
}

var (
	// ErrNotFound reports that there is no blob with the key.
	ErrNotFound = errors.New("blob not found")
	// ErrExists reports that there is a blob with the key, or a Put that has not finished.
	ErrExists = errors.New("blob exists")
)

// Store keeps blobs. A blob never changes. A Store may be used concurrently, also by several
// processes.
type Store interface {
	// Put stores what r returns until io.EOF. Once Put has returned nil, the blob survives a
	// crash. If there is one already, Put returns ErrExists and changes nothing. A Put that fails,
	// or whose process ends, leaves no blob. It may leave parts, which hold the key until a Sweep.
	Put(ctx context.Context, key Key, r io.Reader) error
	// Open returns a blob for reading, until ctx ends. Errors: ErrNotFound, also when the blob is
	// deleted meanwhile.
	Open(ctx context.Context, key Key) (Blob, error)
	// Delete deletes a blob if there is one, and what an unfinished Put has left. A Put that is
	// running fails.
	Delete(ctx context.Context, key Key) error
	// DeleteUnfinished deletes only what an unfinished Put has left.
	DeleteUnfinished(ctx context.Context, key Key) error
	// List returns the entries that follow a key, in order, and about as many as limit. It returns
	// none only if none follow.
	List(ctx context.Context, after Key, limit int) ([]Entry, error)
	// Now returns the time by the clock that dates entries.
	Now(ctx context.Context) (time.Time, error)
}

// Blob is an open blob. It may be used by one goroutine at a time.
type Blob interface {
	io.ReadSeekCloser
	Size() int64
}

// Entry is a blob, or what an unfinished Put has left.
type Entry struct {
	Key          Key
	IsUnfinished bool
	Size         int64 // 0 of an unfinished one
	// Time is when the blob was stored, or the unfinished Put was seen last.
	Time time.Time
}

// listed is how many entries All lists at once.
const listed = 500

// All returns all entries of a store, in order.
func All(ctx context.Context, store Store) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for after := (Key{}); ; {
			entries, err := store.List(ctx, after, listed)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if len(entries) == 0 {
				return
			}
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			after = entries[len(entries)-1].Key
		}
	}
}

// Copy copies all blobs of a store that another one does not have.
func Copy(ctx context.Context, from, to Store) error {
	for entry, err := range All(ctx, from) {
		if err != nil {
			return err
		}
		if entry.IsUnfinished {
			continue
		}
		if err := copyOne(ctx, from, to, entry.Key); err != nil {
			return fmt.Errorf("copy %s: %w", entry.Key.Name(), err)
		}
	}
	return nil
}

func copyOne(ctx context.Context, from, to Store, key Key) error {
	opened, err := from.Open(ctx, key)
	if errors.Is(err, ErrNotFound) { // it was deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	if err = to.DeleteUnfinished(ctx, key); err == nil {
		if err = to.Put(ctx, key, opened); errors.Is(err, ErrExists) {
			err = nil
		}
	}
	return errors.Join(err, opened.Close())
}

// Sweep deletes the blobs that isKept does not keep, and what unfinished Puts have left, if they
// are older than age. It returns how many it deleted. The age must exceed the longest Put, and the
// longest time between a Put and the write of the photo that names the file. isKept must know what
// no failover undoes.
func Sweep(ctx context.Context, store Store, age time.Duration, isKept func(Key) bool) (deleted int, err error) {
	now, err := store.Now(ctx)
	if err != nil {
		return 0, err
	}
	for entry, err := range All(ctx, store) {
		if err != nil {
			return deleted, err
		}
		if now.Sub(entry.Time) < age {
			continue
		}
		remove := store.DeleteUnfinished
		if !entry.IsUnfinished {
			if isKept(entry.Key) {
				continue
			}
			remove = store.Delete
		}
		if err := remove(ctx, entry.Key); err != nil {
			return deleted, err
		}
		deleted++
	}
	return deleted, nil
}
