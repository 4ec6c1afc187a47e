package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
)

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

// followsWriters compares a follower's copy with the store, after writers have raced. The follower
// forgets everything behind its saved token now and then, as if it was killed.
func followsWriters(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	const writers, rounds, ids = 4, 40, 12
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1)) // #nosec G404 -- a test
			for round := range rounds {
				// Ids that are deleted stay taken, so each few rounds have others.
				id, title := int64(round/8)*ids+random.Int64N(ids), fmt.Sprint(w, ".", round)
				var err error
				switch random.IntN(4) {
				case 0:
					err = c.Delete(t.Context(), id)
				case 1:
					_, err = c.Update(t.Context(), id, func(p *post) error { p.Title = title; return nil })
				case 2:
					_, err = raise(t.Context(), c, id, docstore.Amount{Field: "photos", By: int64(round)}, nil)
				default:
					err = c.Insert(t.Context(), post{ID: id, Title: title})
				}
				var duplicate *docstore.DuplicateError
				if err != nil && !errors.Is(err, docstore.ErrNotFound) && !errors.As(err, &duplicate) {
					t.Error(err)
					return
				}
			}
		})
	}
	copied, saved := map[int64]post{}, ""
	for round, isLast := 0, false; !isLast; round++ {
		isLast = round >= 9
		if isLast {
			running.Wait()
		}
		f := &postFollower{posts: c, limit: 3, token: saved}
		listed := f.round(t)
		read, err := c.GetMany(t.Context(), idsOfTypes(listed), docstore.Listed)
		must(t, err)
		if round%3 == 1 { // killed before it stores these
			continue
		}
		for id := range listed {
			delete(copied, id)
		}
		for _, each := range read {
			copied[each.ID] = each
		}
		saved = f.token
	}
	stored := map[int64]post{}
	for batch, err := range c.Batches(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 100}) {
		must(t, err)
		for _, each := range batch {
			stored[each.ID] = each
		}
	}
	wantEqual(t, "the copy", copied, stored)
}
