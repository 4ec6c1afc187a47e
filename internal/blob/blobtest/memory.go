package blobtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/waybook/waybook/internal/blob"
)

// Memory is a store in memory, for tests of what uses one.
type Memory struct {
	// Before, if it is set, is called before each step of a call. If it returns an error, the call ends with it, and leaves
	// what it has done.
	Before func(context.Context) error

	mu    sync.Mutex
	blobs map[blob.Key]*stored
}

// stored is a blob, or what a Put has read.
type stored struct {
	content []byte
	isWhole bool
	time    time.Time
}

// step runs a part of a call.
func (m *Memory) step(ctx context.Context, key blob.Key, do func() error) error {
	if err := key.Validate(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.Before != nil {
		if err := m.Before(ctx); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs == nil {
		m.blobs = map[blob.Key]*stored{}
	}
	return do()
}

// Put implements blob.Store.
func (m *Memory) Put(ctx context.Context, key blob.Key, r io.Reader) error {
	mine := &stored{time: time.Now()}
	err := m.step(ctx, key, func() error {
		if m.blobs[key] != nil {
			return blob.ErrExists
		}
		m.blobs[key] = mine
		return nil
	})
	if err != nil {
		return err
	}
	content, err := io.ReadAll(r)
	if err = cmp.Or(err, ctx.Err()); err == nil {
		return m.step(ctx, key, func() error {
			if m.blobs[key] != mine {
				return errors.New("the blob was deleted while it was stored")
			}
			m.blobs[key] = &stored{content: content, isWhole: true, time: time.Now()}
			return nil
		})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blobs[key] == mine {
		delete(m.blobs, key)
	}
	return err
}

// Open implements blob.Store.
func (m *Memory) Open(ctx context.Context, key blob.Key) (opened blob.Blob, err error) {
	err = m.step(ctx, key, func() error {
		if found := m.blobs[key]; found != nil && found.isWhole {
			opened = reader{bytes.NewReader(found.content)}
			return nil
		}
		return blob.ErrNotFound
	})
	return opened, err
}

// reader reads a blob in memory.
type reader struct{ *bytes.Reader }

// Close implements blob.Blob.
func (reader) Close() error { return nil }

// Delete implements blob.Store.
func (m *Memory) Delete(ctx context.Context, key blob.Key) error {
	return m.step(ctx, key, func() error {
		delete(m.blobs, key)
		return nil
	})
}

// DeleteUnfinished implements blob.Store.
func (m *Memory) DeleteUnfinished(ctx context.Context, key blob.Key) error {
	return m.step(ctx, key, func() error {
		if found := m.blobs[key]; found != nil && !found.isWhole {
			delete(m.blobs, key)
		}
		return nil
	})
}

// List implements blob.Store.
func (m *Memory) List(ctx context.Context, after blob.Key, limit int) (entries []blob.Entry, err error) {
	err = m.step(ctx, blob.Key{File: 1, Kind: blob.View}, func() error {
		keys := slices.SortedFunc(maps.Keys(m.blobs), func(a, b blob.Key) int { return cmp.Compare(a.Name(), b.Name()) })
		for _, key := range keys {
			if each := m.blobs[key]; key.Name() > after.Name() && len(entries) < limit {
				entries = append(entries, blob.Entry{Key: key, IsUnfinished: !each.isWhole, Size: int64(len(each.content)), Time: each.time})
			}
		}
		return nil
	})
	return entries, err
}

// Now implements blob.Store.
func (m *Memory) Now(context.Context) (time.Time, error) { return time.Now(), nil }
