package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

func raceCases() []testCase {
	return []testCase{
		{"concurrent updates of one document from 32 goroutines all take effect", updatesCount},
		{"a read after a write sees the write, despite concurrent writers", readsOwnWrites},
		{"Close waits for the calls in flight", closeWaits},
	}
}

// at runs a function in n goroutines that start at the same time, and waits for them.
func at(n int, do func(i int)) {
	var running sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		running.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	running.Wait()
}

func updatesCount(t *testing.T, engine docstore.Engine) {
	const writers, each = 32, 3
	c := placesWith(t, engine, somePlace(1))
	at(writers, func(int) {
		for range each {
			if _, err := c.Update(t.Context(), int64(1), func(p *place) error { p.Seen++; return nil }); err != nil {
				t.Error(err)
			}
		}
	})
	got := documentOf(t, c, int64(1))
	wantEqual(t, "seen", got.Seen, int64(writers*each))
}

func readsOwnWrites(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	at(8, func(i int) {
		for n := range int64(5) {
			p := somePlace(int64(i)*100 + n)
			if err := c.Insert(t.Context(), p); err != nil {
				t.Error(err)
			}
			if got, err := c.Get(t.Context(), p.ID); err != nil || got != p {
				t.Errorf("got %+v, %v", got, err)
			}
			if _, err := c.Update(t.Context(), p.ID, func(p *place) error { p.Code += "!"; return nil }); err != nil {
				t.Error(err)
			}
			if got, err := c.Find(t.Context(), byCode().Is(p.Code+"!")); err != nil || got.ID != p.ID {
				t.Errorf("got %+v, %v", got, err)
			}
			if n%2 == 0 {
				continue
			}
			if err := c.Delete(t.Context(), p.ID); err != nil {
				t.Error(err)
			}
			if _, err := c.Find(t.Context(), byCode().Is(p.Code+"!")); !errors.Is(err, docstore.ErrNotFound) {
				t.Errorf("got error %v", err)
			}
		}
	})
	wantEqual(t, "documents", countOf(t, c, byCode().All()), int64(8*3))
}

// closeWaits checks that Close interrupts no call that has begun. It cannot observe the
// waiting itself.
func closeWaits(t *testing.T, engine docstore.Engine) {
	c := openPlaces(t, engine)
	var closing sync.Once
	at(8, func(i int) {
		for n := range int64(100) {
			err := c.Insert(t.Context(), somePlace(int64(i)*1000+n))
			if errors.Is(err, docstore.ErrUnavailable) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			if n == 3 {
				closing.Do(func() {
					if err := engine.Close(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	})
}
