package world

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/blob/blobtest"
	"github.com/waybook/waybook/internal/content/photos"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/storetest"
)

// shelf has the files of a collection of photos. Programs come and go; it stays.
type shelf struct {
	mu sync.Mutex
	// now is what programs see, and durable what a power cut leaves.
	now, durable map[blob.Key]*file
}

// file is a file, or what a Put that has not finished has left.
type file struct {
	content []byte
	isWhole bool
	time    time.Time
}

// shelves are those of a system, by their collections.
type shelves map[string]*shelf

// of returns the shelf of a collection.
func (s shelves) of(collection string) *shelf {
	if s[collection] == nil {
		s[collection] = &shelf{now: map[blob.Key]*file{}, durable: map[blob.Key]*file{}}
	}
	return s[collection]
}

// copied returns copies of the shelves, all of which is durable.
func (s shelves) copied() shelves {
	copies := shelves{}
	for collection, each := range s {
		copies[collection] = &shelf{now: maps.Clone(each.now), durable: maps.Clone(each.now)}
	}
	return copies
}

// cutPower undoes some of what is not durable: of a Put that has not returned, and of deletions.
func (s shelves) cutPower(isLost func() bool) {
	for _, collection := range slices.Sorted(maps.Keys(s)) {
		each := s[collection]
		both := maps.Clone(each.now)
		maps.Copy(both, each.durable)
		for _, key := range slices.SortedFunc(maps.Keys(both), byName) {
			before := each.durable[key]
			if before == each.now[key] || !isLost() {
				continue
			}
			if delete(each.now, key); before != nil {
				each.now[key] = before
			}
		}
		each.durable = maps.Clone(each.now)
	}
}

func byName(a, b blob.Key) int { return cmp.Compare(a.Name(), b.Name()) }

// files is a shelf as a program uses it, in the place of a directory or of GridFS.
type files struct {
	*shelf
	clock func() time.Time
	// read and write do the steps of a call, or fail.
	read, write storetest.Hook
}

var _ blob.Store = (*files)(nil)

func (f *files) step(ctx context.Context, hook storetest.Hook, key blob.Key, do func() error) error {
	if err := errors.Join(ctx.Err(), key.Validate()); err != nil {
		return err
	}
	return hook(ctx, storetest.Call{}, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		return do()
	})
}

// Put takes the key, stores the content, and makes it durable.
func (f *files) Put(ctx context.Context, key blob.Key, r io.Reader) error {
	part, whole := &file{time: f.clock()}, &file{isWhole: true}
	err := f.step(ctx, f.write, key, func() error {
		if f.now[key] != nil {
			return blob.ErrExists
		}
		f.now[key] = part
		return nil
	})
	if err == nil {
		whole.content, err = io.ReadAll(r)
	}
	if err == nil {
		err = f.step(ctx, f.write, key, func() error {
			if f.now[key] != part {
				return errors.New("it was deleted while it was stored")
			}
			whole.time = f.clock()
			f.now[key] = whole
			return nil
		})
	}
	if err == nil {
		err = f.step(ctx, f.write, key, func() error {
			f.durable[key] = f.now[key]
			return nil
		})
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, f.step(context.WithoutCancel(ctx), f.write, key, func() error {
		if f.now[key] == part || f.now[key] == whole {
			delete(f.now, key)
		}
		return nil
	}))
}

// Open opens a file.
func (f *files) Open(ctx context.Context, key blob.Key) (opened blob.Blob, err error) {
	err = f.step(ctx, f.read, key, func() error {
		found := f.now[key]
		if found == nil || !found.isWhole {
			return blob.ErrNotFound
		}
		opened = openFile{bytes.NewReader(found.content)}
		return nil
	})
	return opened, err
}

type openFile struct{ *bytes.Reader }

func (openFile) Close() error { return nil }

// Delete deletes a file.
func (f *files) Delete(ctx context.Context, key blob.Key) error {
	return f.step(ctx, f.write, key, func() error {
		delete(f.now, key)
		return nil
	})
}

// DeleteUnfinished deletes what a Put has left.
func (f *files) DeleteUnfinished(ctx context.Context, key blob.Key) error {
	return f.step(ctx, f.write, key, func() error {
		if found := f.now[key]; found != nil && !found.isWhole {
			delete(f.now, key)
		}
		return nil
	})
}

// List lists files.
func (f *files) List(ctx context.Context, after blob.Key, limit int) (entries []blob.Entry, err error) {
	err = f.step(ctx, f.read, blob.Key{File: 1, Kind: blob.View}, func() error {
		for _, key := range slices.SortedFunc(maps.Keys(f.now), byName) {
			if key.Name() > after.Name() && len(entries) < limit {
				found := f.now[key]
				entry := blob.Entry{Key: key, IsUnfinished: !found.isWhole, Size: int64(len(found.content)), Time: found.time}
				entries = append(entries, entry)
			}
		}
		return nil
	})
	return entries, err
}

// Now returns the time that dates files.
func (f *files) Now(context.Context) (time.Time, error) { return f.clock(), nil }

func TestTheFilesOfAWorldKeepTheContract(t *testing.T) {
	do := func(_ context.Context, _ storetest.Call, do func() error) error { return do() }
	blobtest.Run(t, func(*testing.T) blob.Store {
		return &files{shelf: shelves{}.of("photos"), clock: time.Now, read: do, write: do}
	})
}

// hasFiles expects, at rest, that each photo that names a file has all three. If all is swept, there are no others.
func (w *world) hasFiles(isSwept bool) {
	ctx, everything := context.Background(), docstore.Query{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 100}
	for _, collection := range slices.Sorted(maps.Keys(w.files)) {
		if collection == "users" { // no client of the world uploads an icon
			continue
		}
		stored, err := docstore.Open[int64, photos.Photo](ctx, w.programs[0].store, photos.Spec(collection))
		w.must(err)
		left := maps.Clone(w.files[collection].now)
		for batch, err := range stored.Batches(ctx, everything) {
			w.must(err)
			for _, photo := range batch {
				for _, kind := range []blob.Kind{blob.Original, blob.View, blob.Thumbnail} {
					key := blob.Key{File: photo.File, Kind: kind}
					if found := left[key]; photo.File != 0 && (found == nil || !found.isWhole) {
						w.violated("photo %d %q of %s has no file %s", photo.ID, photo.Description, collection, key.Name())
					}
					delete(left, key)
				}
			}
		}
		if isSwept && len(left) > 0 {
			w.violated("files of %s have no photo: %v", collection, slices.SortedFunc(maps.Keys(left), byName))
		}
	}
}

// sweptWithin is when files without a photo are gone: they are swept once a day when they are a day old, for the first
// time an hour after a start.
const sweptWithin = 50 * time.Hour
