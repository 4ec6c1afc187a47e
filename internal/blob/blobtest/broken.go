package blobtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/blob"
)

// cuts are where Puts end too early: before the first chunk is sent, and after some are.
var cuts = []int{0, 1000, 5*255<<10 + 3}

// then returns a reader of some bytes that calls end when it is read further.
func then(size int, end func() error) io.Reader {
	return io.MultiReader(bytes.NewReader(make([]byte, size)),
		readerFunc(func([]byte) (int, error) { return 0, end() }))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func leavesNothing(t *testing.T, store blob.Store) {
	broken := errors.New("the connection is broken")
	for _, size := range cuts {
		key := blob.Key{File: 5, Kind: blob.Original}
		wantError(t, store.Put(t.Context(), key, then(size, func() error { return broken })), broken)
		wantNone(t, store, key)
		if entries := list(t, store); len(entries) > 0 {
			t.Fatalf("the store has %+v", entries)
		}
	}
	key := blob.Key{File: 5, Kind: blob.Original}
	wantContent(t, store, key, put(t, store, key, 10))
}

func endsWithItsContext(t *testing.T, store blob.Store) {
	key := blob.Key{File: 5, Kind: blob.Original}
	for _, size := range cuts {
		ctx, end := context.WithCancel(t.Context())
		r := io.MultiReader(then(size, func() error { end(); return io.EOF }), bytes.NewReader(make([]byte, 2<<20)))
		wantError(t, store.Put(ctx, key, r), context.Canceled)
		wantNone(t, store, key)
		if entries := list(t, store); len(entries) > 0 {
			t.Fatalf("the store has %+v", entries)
		}
		_, err := store.Open(ctx, key)
		wantError(t, err, context.Canceled)
	}
}

// cutPut runs a Put of some bytes that stops for good in the middle, as that of a killed process
// does.
func cutPut(ctx context.Context, store blob.Store, key blob.Key, size int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = store.Put(ctx, key, then(size, func() error { runtime.Goexit(); return nil })) // never returns
	}()
	<-done
}

func cut(t *testing.T, store blob.Store) {
	kept := blob.Key{File: 6, Kind: blob.Original}
	content := put(t, store, kept, 300_000)
	for _, size := range cuts {
		key := blob.Key{File: 5, Kind: blob.Original}
		cutPut(t.Context(), store, key, size)
		wantNone(t, store, key)
		wantError(t, store.Put(t.Context(), key, bytes.NewReader(nil)), blob.ErrExists)
		entries := list(t, store)
		if len(entries) != 2 || entries[0].Key != key || !entries[0].IsUnfinished || entries[1].IsUnfinished {
			t.Fatalf("the store has %+v", entries)
		}
		if n := sweep(t, store, time.Hour, nil); n != 0 {
			t.Fatalf("a sweep deleted %d that are not old", n)
		}
		if n := sweep(t, store, -time.Hour, []blob.Key{kept}); n != 1 {
			t.Fatalf("a sweep deleted %d, want 1", n)
		}
		if entries := list(t, store); len(entries) != 1 {
			t.Fatalf("the store has %+v", entries)
		}
		wantContent(t, store, key, put(t, store, key, 100))
		must(t, store.Delete(t.Context(), key))
	}
	wantContent(t, store, kept, content)
}

// sweep sweeps all keys but some.
func sweep(t *testing.T, store blob.Store, age time.Duration, kept []blob.Key) (deleted int) {
	t.Helper()
	deleted, err := blob.Sweep(t.Context(), store, age, func(key blob.Key) bool { return slices.Contains(kept, key) })
	must(t, err)
	return deleted
}

func overtaken(t *testing.T, store blob.Store) {
	for _, size := range cuts {
		for _, isStoredAgain := range []bool{false, true} {
			key := blob.Key{File: 5, Kind: blob.Original}
			want := Content(key, 400_000)
			err := store.Put(t.Context(), key, io.MultiReader(then(size, func() error {
				if sweep(t, store, -time.Hour, nil) != 1 {
					t.Error("the sweep has not seen the Put")
				}
				if isStoredAgain {
					must(t, store.Put(t.Context(), key, bytes.NewReader(want)))
				}
				return io.EOF
			}), bytes.NewReader(make([]byte, size))))
			if err == nil {
				t.Fatal("the Put has stored what was deleted")
			}
			if isStoredAgain {
				wantContent(t, store, key, want)
				must(t, store.Delete(t.Context(), key))
			}
			wantNone(t, store, key)
			if entries := list(t, store); len(entries) > 0 {
				t.Fatalf("the store has %+v", entries)
			}
		}
	}
}

func overtakenByAnother(t *testing.T, store blob.Store) {
	key := blob.Key{File: 5, Kind: blob.Original}
	var second error
	var writing sync.WaitGroup
	hasBegun, mayEnd := make(chan struct{}), make(chan struct{})
	err := store.Put(t.Context(), key, then(1000, func() error {
		sweep(t, store, -time.Hour, nil)
		writing.Go(func() {
			second = store.Put(t.Context(), key, then(400_000, func() error {
				close(hasBegun)
				<-mayEnd
				return io.EOF
			}))
		})
		<-hasBegun
		return io.EOF
	}))
	if err == nil {
		t.Error("the Put has stored what was deleted")
	}
	if b, err := store.Open(t.Context(), key); err == nil {
		t.Error("the first Put has shown the second one", b.Close())
	}
	close(mayEnd)
	writing.Wait()
	must(t, second)
	wantContent(t, store, key, make([]byte, 400_000))
}
