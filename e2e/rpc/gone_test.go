package rpc_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/storetest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestStoreReadsEndWhenTheCallerCancels(t *testing.T) {
	t.Parallel()
	const plenty = 1 << 40
	// After left more reads, each blocks until its context ends.
	left, begun, ended := atomic.Int64{}, make(chan struct{}), make(chan error)
	left.Store(plenty)
	p := startPartsOn(t, newBrittleOf(t, &storetest.Hooked{
		Engine: must(embedded.Open(t.Context(), filepath.Join(t.TempDir(), "store.db")))(t),
		Read: func(ctx context.Context, _ storetest.Call, do func() error) error {
			if left.Add(-1) >= 0 {
				return do()
			}
			begun <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		},
	}))
	owner := p.newUser("a")
	album := p.newAlbum(owner, "x")
	p.getAlbum(album) // which asks for the hidden users
	for name, call := range map[string]func(context.Context) error{
		"a document": func(ctx context.Context) error {
			return failed(p.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album}))
		},
		"a page": func(ctx context.Context) error {
			return failed(p.Album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: owner}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			left.Store(0)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			done := make(chan error, 1)
			go func() { done <- call(ctx) }()
			within(t, begun)
			leave()
			if err := within(t, ended); err != context.Canceled {
				t.Errorf("the read ended with %v", err)
			}
			if err := within(t, done); err == nil {
				t.Error("the call succeeded")
			}
		})
	}
	left.Store(plenty)
}

// within receives a value, or fails the test after a minute.
func within[T any](t *testing.T, from <-chan T) (received T) {
	t.Helper()
	select {
	case received = <-from:
	case <-time.After(time.Minute):
		t.Fatal("nothing was received")
	}
	return received
}
