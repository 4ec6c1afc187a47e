package rpc_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// halting is a store whose reads, after a number of reads, block until their context ends.
type halting struct {
	docstore.Engine
	// left is how many more reads are answered.
	left atomic.Int64
	// begun and ended report blocked reads.
	begun chan struct{}
	ended chan error
}

func (h *halting) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := h.Engine.Open(ctx, spec)
	return haltingTable{table, h}, err
}

type haltingTable struct {
	docstore.Table
	store *halting
}

func (t haltingTable) halt(ctx context.Context) error {
	if t.store.left.Add(-1) >= 0 {
		return nil
	}
	t.store.begun <- struct{}{}
	<-ctx.Done()
	t.store.ended <- ctx.Err()
	return ctx.Err()
}

func (t haltingTable) Get(ctx context.Context, id docstore.Value) (bson.Raw, error) {
	if err := t.halt(ctx); err != nil {
		return nil, err
	}
	return t.Table.Get(ctx, id)
}

func (t haltingTable) GetLinearizable(ctx context.Context, id docstore.Value) (bson.Raw, error) {
	if err := t.halt(ctx); err != nil {
		return nil, err
	}
	return t.Table.GetLinearizable(ctx, id)
}

func (t haltingTable) GetRecent(ctx context.Context, id docstore.Value, staleness time.Duration) (bson.Raw, error) {
	if err := t.halt(ctx); err != nil {
		return nil, err
	}
	return t.Table.GetRecent(ctx, id, staleness)
}

func (t haltingTable) Scan(ctx context.Context, scan docstore.Scan) ([]bson.Raw, bool, error) {
	if err := t.halt(ctx); err != nil {
		return nil, false, err
	}
	return t.Table.Scan(ctx, scan)
}

func TestStoreReadsEndWhenTheCallerCancels(t *testing.T) {
	const (
		// albums is more than two batches of a stream.
		albums = 450
		plenty = 1 << 40
	)
	engine, err := embedded.Open(filepath.Join(t.TempDir(), "store.db"))
	store := &halting{Engine: got(t, engine, err), begun: make(chan struct{}), ended: make(chan error)}
	store.left.Store(plenty)
	p := startPartsOn(t, newBrittleOf(t, store))
	owner := p.newUser("a")
	var album int64
	for range albums {
		album = p.newAlbum(owner, "x")
	}
	for name, c := range map[string]struct {
		answered int64
		call     func(context.Context) error
	}{
		"a document": {0, func(ctx context.Context) error {
			return failed(p.album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album}))
		}},
		"a page": {0, func(ctx context.Context) error {
			return failed(p.album.ListAlbums(ctx, &albumv1.ListAlbumsRequest{OwnerId: owner}))
		}},
		"a long list, in its middle": {1, func(ctx context.Context) error {
			return failed(collect(p.album.StreamAlbums(ctx, &albumv1.StreamAlbumsRequest{OwnerId: owner})))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			store.left.Store(c.answered)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			done := make(chan error, 1)
			go func() { done <- c.call(ctx) }()
			within(t, store.begun)
			leave()
			if err := within(t, store.ended); err != context.Canceled {
				t.Errorf("the read ended with %v", err)
			}
			if err := within(t, done); err == nil {
				t.Error("the call succeeded")
			}
		})
	}
	store.left.Store(plenty)
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
