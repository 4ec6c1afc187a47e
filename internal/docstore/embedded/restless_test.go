package embedded_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

// Four documents change every 100 ms for a minute, and others are stored once. Followers see the first at
// least every five seconds, and each of the others once.
func TestADocumentThatNeverRestsIsInTheFeedEveryFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := open(t, filepath.Join(t.TempDir(), "store.db"))
		defer shut(t, engine)
		spec := docstore.Spec{Name: "restless", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Rest: "content"}}
		articles, err := docstore.Open[int64, article](t.Context(), engine, spec)
		must(t, err)
		const restless, span = 4, time.Minute
		for id := range int64(restless) {
			must(t, articles.Insert(t.Context(), article{ID: id}))
		}
		end := time.Now().Add(span)
		var running sync.WaitGroup
		running.Go(func() {
			for next := int64(100); time.Now().Before(end); next++ {
				for id := range int64(restless) {
					if _, err := articles.Update(t.Context(), id, func(a *article) error { a.Likes++; return nil }); err != nil {
						t.Error(err)
					}
				}
				if next%7 == 0 {
					if err := articles.Insert(t.Context(), article{ID: next}); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		for _, limit := range []int{1, 3, 100} {
			for _, pause := range []time.Duration{0, 500 * time.Millisecond, 2 * time.Second, 5 * time.Second} {
				running.Go(func() {
					name := fmt.Sprintf("a follower with pages of %d that waits for %v", limit, pause)
					followRestless(t, name, articles, restless, limit, pause, end)
				})
			}
		}
		running.Wait()
	})
}

func followRestless(
	t *testing.T, name string, articles *docstore.Collection[int64, article], restless int64, limit int, pause time.Duration, end time.Time,
) {
	query := docstore.FeedQuery{Limit: limit, WithDocuments: true}
	last, likes, times := map[int64]time.Time{}, map[int64]int64{}, map[int64]int{}
	for id := range restless {
		last[id] = time.Now()
	}
	for time.Now().Before(end) {
		page, err := articles.Feed(t.Context(), query)
		if err != nil {
			t.Error(err)
			return
		}
		query.Token = page.Next
		for _, change := range page.Changes {
			last[change.ID] = time.Now()
			times[change.ID]++
			if change.ID < restless && change.Document.Likes < likes[change.ID] {
				t.Errorf("%s: document %d went back from %d to %d", name, change.ID, likes[change.ID], change.Document.Likes)
			}
			likes[change.ID] = change.Document.Likes
		}
		if page.More {
			continue
		}
		for id := range restless {
			if age := time.Since(last[id]); age > 5*time.Second+pause {
				t.Errorf("%s: document %d was shown %v ago", name, id, age)
				return
			}
		}
		time.Sleep(pause)
	}
	for id, n := range times {
		if id >= restless && n != 1 {
			t.Errorf("%s: document %d, which was stored once, came %d times", name, id, n)
		}
	}
	t.Logf("%s: %v", name, times[0])
}

// The rate is that up to which docs/grpc.md promises it.
func TestADocumentThatNeverRestsIsInTheFeedEveryFiveSecondsDuringAnImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := open(t, filepath.Join(t.TempDir(), "store.db"))
		defer shut(t, engine)
		spec := docstore.Spec{Name: "restless", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Rest: "content"}}
		articles, err := docstore.Open[int64, article](t.Context(), engine, spec)
		must(t, err)
		must(t, articles.Insert(t.Context(), article{}))
		const perBatch, pause, span = 600, 200 * time.Millisecond, 10 * time.Second
		var running sync.WaitGroup
		defer running.Wait()
		began := time.Now()
		running.Go(func() {
			for next := int64(1); time.Since(began) < span; time.Sleep(pause) {
				batch := make([]article, perBatch)
				for i := range batch {
					batch[i].ID, next = next, next+1
				}
				errs, err := articles.InsertMany(t.Context(), batch)
				must(t, errors.Join(append(errs, err, articles.Touch(t.Context(), 0, "content", nil))...))
			}
		})
		query, last := docstore.FeedQuery{Limit: 1000}, began
		for time.Since(began) < span {
			page, err := articles.Feed(t.Context(), query)
			must(t, err)
			query.Token = page.Next
			for _, change := range page.Changes {
				if change.ID == 0 {
					last = time.Now()
				}
			}
			if age := time.Since(last); age > 5*time.Second {
				t.Fatalf("it was shown %v ago", age)
			}
		}
	})
}

// Each of many documents changes every 100 ms. Once, a photo is stored beside it, 900 ms after a change has told so,
// which is less than half of a settling time.
// A follower reads photos when the revision of that part has changed, and has them all when the documents rest.
func TestAFollowerOfADocumentThatNeverRestsReadsAPartAgainOnceItHasSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := open(t, filepath.Join(t.TempDir(), "store.db"))
		defer shut(t, engine)
		articles, err := docstore.Open[int64, article](t.Context(), engine, docstore.Spec{
			Name: "restless", ID: docstore.Int64, Tombstones: true,
			Feed: &docstore.Feed{Rest: "content", Parts: []docstore.Part{{Name: "photos"}}},
		})
		must(t, err)
		const restless = 40
		for id := range int64(restless) {
			must(t, articles.Insert(t.Context(), article{ID: id}))
		}
		var photos [restless]atomic.Bool
		var running sync.WaitGroup
		for id := range int64(restless) {
			running.Go(func() {
				for n := range int64(100) {
					if _, err := articles.Update(t.Context(), id, func(a *article) error { a.Likes++; return nil }); err != nil {
						t.Error(err)
					}
					if n == 30+id {
						running.Go(func() {
							must(t, articles.Touch(t.Context(), id, "photos", nil))
							time.Sleep(900 * time.Millisecond)
							photos[id].Store(true)
						})
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		query, has, revisions := docstore.FeedQuery{Limit: 100, WithDocuments: true}, map[int64]bool{}, map[int64]int64{}
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
			page, err := articles.Feed(t.Context(), query)
			must(t, err)
			query.Token = page.Next
			for _, change := range page.Changes {
				if at := change.Parts["photos"]; at != revisions[change.ID] {
					revisions[change.ID], has[change.ID] = at, photos[change.ID].Load()
				}
			}
		}
		running.Wait()
		for id := range int64(restless) {
			if !has[id] {
				t.Errorf("the follower has not the photo of document %d, and its revision %d", id, revisions[id])
			}
		}
	})
}

// A follower is at the first of two documents that never rest. It has another one that the file lacks when it is put back,
// and the two do not rest then either.
func TestAFollowerAmongDocumentsThatNeverRestNoticesAFileThatWasPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		const restless, lacking = 2, 3
		run := func(do func(articles *docstore.Collection[int64, article])) {
			engine := open(t, path)
			defer shut(t, engine)
			articles, err := docstore.Open[int64, article](t.Context(), engine, docstore.Spec{
				Name: "restless", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Rest: "content"},
			})
			must(t, err)
			do(articles)
		}
		// follow reads pages of one document, while the restless ones change, until a look has found the first of them.
		follow := func(articles *docstore.Collection[int64, article]) (token string) {
			var running sync.WaitGroup
			defer running.Wait()
			var isFound atomic.Bool
			defer isFound.Store(true)
			running.Go(func() {
				for !isFound.Load() {
					for id := range int64(restless) {
						must(t, articles.Touch(t.Context(), id, "content", nil))
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
			for {
				page, err := articles.Feed(t.Context(), docstore.FeedQuery{Token: token, Limit: 1})
				must(t, err)
				if token = page.Next; page.More && len(page.Changes) == 1 && page.Changes[0].ID == 0 {
					return token
				}
			}
		}
		run(func(articles *docstore.Collection[int64, article]) {
			for id := range int64(restless) {
				must(t, articles.Insert(t.Context(), article{ID: id}))
			}
		})
		copied, err := os.ReadFile(path)
		must(t, err)
		token := ""
		run(func(articles *docstore.Collection[int64, article]) {
			must(t, articles.Insert(t.Context(), article{ID: lacking}))
			token = follow(articles)
		})
		must(t, os.WriteFile(path, copied, 0o600))
		run(func(articles *docstore.Collection[int64, article]) {
			follow(articles) // so the looks of this process have found the documents
			page, err := articles.Feed(t.Context(), docstore.FeedQuery{Token: token, Limit: 1})
			if !errors.Is(err, docstore.ErrForgotten) {
				t.Errorf("it goes on with %v: %v", page.Changes, err)
			}
		})
	})
}
