package rpc_test

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/storetest"
)

// brittle is a store whose calls can be made to fail, and whose documents can be counted.
type brittle struct {
	docstore.Engine

	mu     sync.Mutex
	broken error
	// awaited is the call before whose next occurrence happens is called.
	awaited storetest.Call
	happens func()
	tables  map[string]docstore.Table
	// clock is that of the store, where a test may advance it.
	clock *advancing
}

// advancing is the clock of the machine, which tests advance.
type advancing struct{ ahead atomic.Int64 }

func (a *advancing) now() time.Time { return time.Now().Add(time.Duration(a.ahead.Load())) }

func (a *advancing) advance(by time.Duration) { a.ahead.Add(int64(by)) }

func newBrittle(t *testing.T) *brittle {
	t.Helper()
	clock := &advancing{}
	b := newBrittleOf(t, must(embedded.OpenWithClock(filepath.Join(t.TempDir(), "store.db"), clock.now))(t))
	b.clock = clock
	return b
}

// newBrittleOverWire returns a brittle store in a database of a MongoDB server.
func newBrittleOverWire(t *testing.T, uri string) *brittle {
	t.Helper()
	return newBrittleOf(t, must(mongo.Open(t.Context(), uri, ""))(t))
}

func newBrittleOf(t *testing.T, engine docstore.Engine) *brittle {
	t.Helper()
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return &brittle{Engine: engine, tables: map[string]docstore.Table{}}
}

func (b *brittle) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = err
}

func (b *brittle) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.broken
}

// beforeNext does something once, before the next such call.
func (b *brittle) beforeNext(call storetest.Call, do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaited, b.happens = call, do
}

// happen does what is to be done before a call.
func (b *brittle) happen(call storetest.Call) {
	b.mu.Lock()
	do := b.happens
	if do == nil || call != b.awaited {
		b.mu.Unlock()
		return
	}
	b.happens = nil
	b.mu.Unlock()
	do()
}

// Backup copies the store if it is not broken.
func (b *brittle) Backup(ctx context.Context, to io.Writer, begin func(int64) error) error {
	if err := b.failure(); err != nil {
		return err
	}
	return b.Engine.(*embedded.Engine).Backup(ctx, to, begin)
}

// RecordBackup records nothing: no test here reads the time of a backup.
func (b *brittle) RecordBackup(time.Time) error { return b.failure() }

// table returns a collection, whose calls do not fail.
func (b *brittle) table(collection string) docstore.Table {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tables[collection]
}

// count returns the number of documents of a collection.
func (b *brittle) count(t testing.TB, collection string) int64 {
	t.Helper()
	return must(b.table(collection).Count(t.Context(), docstore.All(docstore.IDIndex).Everywhere()))(t)
}

// countTombstones returns the number of deleted documents of a collection that are not forgotten.
func (b *brittle) countTombstones(t testing.TB, collection string) (n int64) {
	t.Helper()
	all, more, err := b.table(collection).Scan(t.Context(), docstore.Scan{
		Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 1000, WithTombstones: true,
	})
	if err != nil || more {
		t.Fatalf("more documents: %t, %v", more, err)
	}
	for _, document := range all {
		if docstore.IsTombstone(document) {
			n++
		}
	}
	return n
}

func (b *brittle) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	table, err := b.Engine.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tables[spec.Name] = table
	return (&storetest.Hooked{Engine: b.Engine, Read: b.call, Write: b.call}).Open(ctx, spec)
}

// call makes a call of a collection fail, or does it.
func (b *brittle) call(_ context.Context, call storetest.Call, do func() error) error {
	b.happen(call)
	if err := b.failure(); err != nil {
		return err
	}
	return do()
}
