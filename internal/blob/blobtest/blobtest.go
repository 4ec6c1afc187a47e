// Package blobtest is the conformance suite of blob stores. Each case is named after its promise
// and runs on an empty store.
package blobtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/waybook/waybook/internal/blob"
)

// Run runs the suite. open returns an empty store and closes it at the end of the test.
func Run(t *testing.T, open func(t *testing.T) blob.Store) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, blob.Store)
	}{
		{"a blob of any size is read as it was stored, from anywhere", readsWhatWasStored},
		{"a key is stored once, and a repeated Put changes nothing", storesOnce},
		{"of Puts at the same time one stores, and the others change nothing", storesOnceAtATime},
		{"a Put whose reader fails leaves nothing", leavesNothing},
		{"a Put whose context ends leaves nothing", endsWithItsContext},
		{"a Put that is cut leaves no blob, and its parts go by a sweep", cut},
		{"a Put that a sweep overtakes fails and leaves nothing", overtaken},
		{"a Put that a sweep overtakes does not end another one", overtakenByAnother},
		{"Delete deletes one kind, and is repeatable", deletes},
		{"a reader of a deleted blob never reads other bytes", readsDeleted},
		{"List returns entries in the order of keys, page by page", lists},
		{"Sweep deletes what is old and not kept", sweeps},
		{"a key that names no blob is refused", refusesKeys},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

// Content returns bytes that depend on a key and a size.
func Content(key blob.Key, size int) []byte {
	content := make([]byte, size)
	random := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32s", key.Name()))[:32]))
	_, _ = random.Read(content) // never fails
	return content
}

func put(t *testing.T, store blob.Store, key blob.Key, size int) []byte {
	t.Helper()
	content := Content(key, size)
	must(t, store.Put(t.Context(), key, bytes.NewReader(content)))
	return content
}

func wantContent(t *testing.T, store blob.Store, key blob.Key, want []byte) {
	t.Helper()
	b, err := store.Open(t.Context(), key)
	must(t, err)
	got, err := io.ReadAll(b)
	must(t, err)
	if !bytes.Equal(got, want) || b.Size() != int64(len(want)) {
		t.Fatalf("%s has %d bytes and a size of %d, want %d bytes", key.Name(), len(got), b.Size(), len(want))
	}
	must(t, b.Close())
}

func wantNone(t *testing.T, store blob.Store, key blob.Key) {
	t.Helper()
	_, err := store.Open(t.Context(), key)
	wantError(t, err, blob.ErrNotFound)
}

func list(t *testing.T, store blob.Store) []blob.Entry {
	t.Helper()
	entries, err := store.List(t.Context(), blob.Key{}, 1000)
	must(t, err)
	return entries
}

// sizes are around the chunks of GridFS and what is sent at once.
var sizes = []int{0, 1, 1000, 255<<10 - 1, 255 << 10, 255<<10 + 1, 4 * 255 << 10, 5*255<<10 + 3}

func readsWhatWasStored(t *testing.T, store blob.Store) {
	for i, size := range sizes {
		key := blob.Key{File: int64(i + 1), Kind: blob.Original}
		content := put(t, store, key, size)
		wantContent(t, store, key, content)
		if entries := list(t, store); len(entries) != 1 || entries[0].Size != int64(size) || entries[0].IsUnfinished {
			t.Errorf("the store has %+v, want a blob of %d bytes", entries, size)
		}
		b, err := store.Open(t.Context(), key)
		must(t, err)
		for _, fifth := range []int{3, 0, 5, 1, 4} {
			from, length := size*fifth/5, size/2+1
			_, err := b.Seek(int64(from), io.SeekStart)
			must(t, err)
			part, err := io.ReadAll(io.LimitReader(b, int64(length)))
			must(t, err)
			if !bytes.Equal(part, content[from:min(from+length, size)]) {
				t.Fatalf("a blob of %d bytes has others from %d on", size, from)
			}
		}
		_, err = b.Seek(0, io.SeekStart)
		must(t, err)
		if size <= 1000 {
			must(t, iotest.TestReader(b, content))
		}
		must(t, b.Close())
		wantNone(t, store, blob.Key{File: int64(i + 1), Kind: blob.View})
		must(t, store.Delete(t.Context(), key))
	}
}

func storesOnce(t *testing.T, store blob.Store) {
	key := blob.Key{File: 1 << 52, Kind: blob.View}
	content := put(t, store, key, 600_000)
	for range 2 {
		wantError(t, store.Put(t.Context(), key, bytes.NewReader([]byte("other"))), blob.ErrExists)
		wantContent(t, store, key, content)
	}
	if entries := list(t, store); len(entries) != 1 {
		t.Errorf("the store has %+v", entries)
	}
}

func storesOnceAtATime(t *testing.T, store blob.Store) {
	key := blob.Key{File: 7, Kind: blob.Original}
	const writers = 8
	errs := make([]error, writers)
	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			errs[i] = store.Put(t.Context(), key, bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 700_000)))
		})
	}
	writing.Wait()
	winner := slices.Index(errs, nil)
	if winner < 0 {
		t.Fatalf("no Put has stored: %v", errs)
	}
	for i, err := range errs {
		if i != winner {
			wantError(t, err, blob.ErrExists)
		}
	}
	wantContent(t, store, key, bytes.Repeat([]byte{byte(winner)}, 700_000))
}

func deletes(t *testing.T, store blob.Store) {
	first, second := blob.Key{File: 5, Kind: blob.Original}, blob.Key{File: 5, Kind: blob.View}
	must(t, store.Delete(t.Context(), first))
	put(t, store, first, 600_000)
	content := put(t, store, second, 10)
	must(t, store.DeleteUnfinished(t.Context(), first))
	wantContent(t, store, first, Content(first, 600_000))
	for range 2 {
		must(t, store.Delete(t.Context(), first))
		wantNone(t, store, first)
	}
	wantContent(t, store, second, content)
	wantContent(t, store, first, put(t, store, first, 300_000))
}

func readsDeleted(t *testing.T, store blob.Store) {
	key := blob.Key{File: 5, Kind: blob.Original}
	content := put(t, store, key, 3<<20)
	b, err := store.Open(t.Context(), key)
	must(t, err)
	begin := make([]byte, 1000)
	_, err = io.ReadFull(b, begin)
	must(t, err)
	must(t, store.Delete(t.Context(), key))
	rest, err := io.ReadAll(b)
	if got := append(begin, rest...); !bytes.HasPrefix(content, got) || err == nil && len(got) < len(content) {
		t.Errorf("%d other bytes, error %v", len(got), err)
	}
	if err != nil {
		wantError(t, err, blob.ErrNotFound)
	}
	must(t, b.Close())
}

func lists(t *testing.T, store blob.Store) {
	before, err := store.Now(t.Context())
	must(t, err)
	var keys []blob.Key
	for _, id := range []int64{1, 999, 1000, 1001, 2001, 456, 890123456456, 1<<53 - 1} {
		for _, kind := range []blob.Kind{blob.Original, blob.Thumbnail, blob.View} {
			key := blob.Key{File: id, Kind: kind}
			put(t, store, key, int(id%100))
			keys = append(keys, key)
		}
	}
	after, err := store.Now(t.Context())
	must(t, err)
	slices.SortFunc(keys, func(a, b blob.Key) int { return bytes.Compare([]byte(a.Name()), []byte(b.Name())) })
	for _, limit := range []int{1, 2, 3, 7, len(keys), 1000} {
		var got []blob.Key
		for from := (blob.Key{}); ; {
			entries, err := store.List(t.Context(), from, limit)
			must(t, err)
			if len(entries) == 0 {
				break
			}
			if len(entries) > limit {
				t.Errorf("%d entries, the limit is %d", len(entries), limit)
			}
			for _, entry := range entries {
				if from = entry.Key; entry.Size != entry.Key.File%100 || entry.IsUnfinished {
					t.Errorf("entry %+v", entry)
				}
				if entry.Time.Before(before.Add(-time.Second)) || entry.Time.After(after.Add(time.Second)) {
					t.Errorf("entry %+v was stored from %v to %v", entry, before, after)
				}
				got = append(got, entry.Key)
			}
		}
		if !slices.Equal(got, keys) {
			t.Errorf("pages of %d: %v, want %v", limit, got, keys)
		}
	}
	entries, err := store.List(t.Context(), blob.Key{File: 1001, Kind: blob.Thumbnail}, 1)
	must(t, err)
	if len(entries) != 1 || entries[0].Key != (blob.Key{File: 1001, Kind: blob.View}) {
		t.Errorf("after a key follows %+v", entries)
	}
}

func sweeps(t *testing.T, store blob.Store) {
	var kept []blob.Key
	for id := range int64(30) {
		key := blob.Key{File: id + 1, Kind: blob.Original}
		if put(t, store, key, 10); id%3 == 0 {
			kept = append(kept, key)
		}
	}
	if n := sweep(t, store, time.Hour, nil); n != 0 {
		t.Errorf("a sweep deleted %d that are not old", n)
	}
	if n := sweep(t, store, -time.Hour, kept); n != 20 {
		t.Errorf("a sweep deleted %d, want 20", n)
	}
	var left []blob.Key
	for _, entry := range list(t, store) {
		left = append(left, entry.Key)
	}
	if !slices.Equal(left, kept) {
		t.Errorf("a sweep left %v, want %v", left, kept)
	}
}

func refusesKeys(t *testing.T, store blob.Store) {
	for _, key := range []blob.Key{
		{}, {File: 1}, {File: 0, Kind: blob.View}, {File: -1, Kind: blob.View}, {File: 1e16, Kind: blob.View},
		{File: 1, Kind: "../view"}, {File: 1, Kind: "view\x00"},
	} {
		_, err := store.Open(t.Context(), key)
		for _, err := range []error{
			err, store.Put(t.Context(), key, bytes.NewReader(nil)),
			store.Delete(t.Context(), key), store.DeleteUnfinished(t.Context(), key),
		} {
			if err == nil || errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrExists) {
				t.Errorf("key %+v: %v", key, err)
			}
		}
	}
}
