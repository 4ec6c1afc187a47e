package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

func feedsFromAMoment(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1}, {ID: 2, Title: "old"}, {ID: 3}, {ID: 4, Title: "b"}})
	must(t, c.Delete(t.Context(), 1))
	start := nextSecond(t, c)
	must(t, c.Delete(t.Context(), 3))
	rename(t, c, 4, "c")
	insertAll(t, c, []post{{ID: 5, Title: "new"}})
	want := []entry{{3, docstore.DocumentDeleted, 0, ""}, {4, docstore.DocumentChanged, 2, "c"}, {5, docstore.DocumentCreated, 1, "new"}}
	for _, limit := range []int{1, 5} {
		wantEqual(t, fmt.Sprint("since then, limit ", limit), (&follower{posts: c, limit: limit, start: start}).entries(t), want)
	}
	early := &follower{posts: c, limit: 2, start: time.Unix(0, 0)}
	if all := early.entries(t); len(all) != 5 || all[1].ID != 1 || all[1].Kind != docstore.DocumentDeleted {
		t.Errorf("since ever: %v", all)
	}
	page := feedOf(t, c, docstore.FeedQuery{Start: time.Now().Add(time.Hour), Limit: 2})
	wantEqual(t, "in the future", len(page.Changes), 0)
	late := &follower{posts: c, limit: 2, token: page.Next}
	rename(t, c, 2, "changed")
	wantEqual(t, "after that", late.entries(t), []entry{{2, docstore.DocumentChanged, 2, "changed"}})
	_, err := c.Feed(t.Context(), docstore.FeedQuery{Start: start, Token: page.Next, Limit: 2})
	wantError(t, err, docstore.ErrBadToken)
	begun := feedOf(t, c, docstore.FeedQuery{Start: time.Unix(0, 0), Limit: 1})
	// The moments of a store may be ahead of the clock by what it counts in a second.
	must(t, c.Sweep(t.Context(), -10*time.Second, nil))
	wantEqual(t, "a walk within which deletions are forgotten", len((&follower{posts: c, limit: 2, token: begun.Next}).entries(t)) > 0, true)
	for _, each := range (&follower{posts: c, limit: 2, start: time.Unix(0, 0)}).entries(t) {
		if each.Kind == docstore.DocumentDeleted {
			t.Errorf("document %d is shown, which is forgotten", each.ID)
		}
	}
}

// nextSecond waits until the store is in another second, and returns its beginning.
func nextSecond(t *testing.T, c *posts) time.Time {
	t.Helper()
	before, err := c.Now(t.Context())
	must(t, err)
	for {
		now, err := c.Now(t.Context())
		must(t, err)
		if now.Unix() > before.Unix() {
			return now.Truncate(time.Second)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func feedsRestless(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	must(t, c.Insert(t.Context(), post{ID: 1}))
	done := make(chan struct{})
	var writing sync.WaitGroup
	defer writing.Wait()
	defer close(done)
	writing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			if _, err := c.Update(t.Context(), 1, func(p *post) error { p.Title = fmt.Sprint(n); return nil }); err != nil {
				t.Error(err)
				return
			}
		}
	})
	token, seen := "", map[string]bool{}
	for began := time.Now(); len(seen) < 3; {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("a document that changes all the time was shown %d times", len(seen))
		}
		page := feedOf(t, c, docstore.FeedQuery{Token: token, Limit: 2, WithDocuments: true})
		token = page.Next
		for _, change := range page.Changes {
			seen[change.Document.Title] = true
		}
	}
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
					_, err = c.Raise(t.Context(), id, docstore.Amount{Field: "photos", By: int64(round)}, nil)
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
	f := &follower{posts: c, limit: 3}
	copied, saved := map[int64]post{}, ""
	for round := range 10 {
		if round == 9 {
			running.Wait()
		}
		changes := f.catchUp(t)
		if round%3 == 1 { // killed before it saved these
			f.token = saved
			continue
		}
		for _, each := range changes {
			if delete(copied, each.ID); each.Document != nil {
				copied[each.ID] = *each.Document
			}
		}
		saved = f.token
	}
	stored := map[int64]post{}
	for batch, err := range c.Batches(t.Context(), docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 100}) {
		must(t, err)
		for _, each := range batch {
			if each.ID < markers {
				stored[each.ID] = each
			}
		}
	}
	wantEqual(t, "the copy", copied, stored)
}

func feedContinues(t *testing.T, open func(t *testing.T) docstore.Engine) {
	engine := open(t)
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}})
	f := &follower{posts: c, limit: 5}
	f.catchUp(t)
	must(t, c.Delete(t.Context(), 2))
	engine = reopened(t, engine, open)
	f.posts = openPosts(t, engine)
	must(t, f.posts.Insert(t.Context(), post{ID: 3, Title: "c"}))
	wantEqual(t, "what follows", f.entries(t), []entry{{2, docstore.DocumentDeleted, 0, ""}, {3, docstore.DocumentCreated, 1, "c"}})
	must(t, engine.Close())
}
