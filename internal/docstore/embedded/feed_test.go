package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
)

func followedArticles(t *testing.T, engine *embedded.Engine) *docstore.Collection[int64, article] {
	t.Helper()
	articles, err := docstore.Open[int64, article](t.Context(), engine, docstore.Spec{
		Name: "followed", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Rest: "content", Settling: time.Millisecond},
	})
	must(t, err)
	return articles
}

func TestAClockThatStepsBackSkipsNoChange(t *testing.T) {
	path, clock := filepath.Join(t.TempDir(), "store.db"), time.Now()
	now := func() time.Time { return clock }
	engine, err := embedded.OpenWithClock(path, now)
	must(t, err)
	articles := followedArticles(t, engine)
	var token string
	var seen []int64
	// follow reads until it sees a change.
	follow := func(until int64) {
		t.Helper()
		for !slices.Contains(seen, until) {
			page, err := articles.Feed(t.Context(), docstore.FeedQuery{Token: token, Limit: 2})
			must(t, err)
			for _, change := range page.Changes {
				seen = append(seen, change.ID)
			}
			token = page.Next
		}
	}
	for id, step := range []time.Duration{0, time.Hour, -2 * time.Hour, -time.Hour, 30 * time.Minute} {
		clock = clock.Add(step)
		must(t, articles.Insert(t.Context(), article{ID: int64(id)}))
		follow(int64(id))
		if id == 3 {
			shut(t, engine)
			clock = clock.Add(-time.Hour)
			engine, err = embedded.OpenWithClock(path, now)
			must(t, err)
			articles = followedArticles(t, engine)
		}
	}
	if want := []int64{0, 1, 2, 3, 4}; !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
	must(t, engine.Check(t.Context()))
	shut(t, engine)
}

// A file is put back, as a copy of a stopped store or a backup comes back. Whoever has seen more than the
// copy has must start anew, whatever happens to the file before the next call; all others go on.
func TestAFollowerNoticesAFileThatWasPutBack(t *testing.T) {
	type follower struct {
		token string
		limit int
	}
	for name, after := range map[string]func(t *testing.T, c *docstore.Collection[int64, article]){
		"at once": func(*testing.T, *docstore.Collection[int64, article]) {},
		"when the store has moved on": func(t *testing.T, c *docstore.Collection[int64, article]) {
			must(t, c.Insert(t.Context(), article{ID: 5}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			engine := open(t, path)
			articles := followedArticles(t, engine)
			follow := func(f *follower) error {
				page, err := articles.Feed(t.Context(), docstore.FeedQuery{Token: f.token, Limit: f.limit})
				if err == nil {
					f.token = page.Next
				}
				return err
			}
			must(t, articles.Insert(t.Context(), article{ID: 1}))
			must(t, articles.Insert(t.Context(), article{ID: 2}))
			early, walker, late := &follower{limit: 9}, &follower{limit: 1}, &follower{limit: 9}
			must(t, follow(early))
			shut(t, engine)
			copied, err := os.ReadFile(path)
			must(t, err)

			engine = open(t, path)
			articles = followedArticles(t, engine)
			must(t, articles.Insert(t.Context(), article{ID: 3}))
			must(t, articles.Insert(t.Context(), article{ID: 4}))
			must(t, follow(walker)) // it has the first article, but began after the last
			must(t, follow(late))
			shut(t, engine)

			must(t, os.WriteFile(path, copied, 0o600))
			for range 3 {
				engine = open(t, path)
				articles = followedArticles(t, engine)
				after(t, articles)
				must(t, follow(early))
				for what, f := range map[string]*follower{"behind the copy": late, "on a walk that began behind it": walker} {
					if err := follow(f); !errors.Is(err, docstore.ErrForgotten) {
						t.Errorf("a follower %s: %v", what, err)
					}
				}
				after = func(*testing.T, *docstore.Collection[int64, article]) {}
				must(t, engine.Check(t.Context()))
				shut(t, engine)
			}
		})
	}
}

// A document changes behind what has settled, so a page does not show it. The file is put back as it was
// before the change, and the follower, whose position it has, must not take it for shown.
func TestAFollowerNoticesAFileWithoutAnUnsettledChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		run := func(do func(articles *docstore.Collection[int64, article])) {
			engine := open(t, path)
			articles, err := docstore.Open[int64, article](t.Context(), engine, docstore.Spec{
				Name: "followed", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Rest: "content", Settling: time.Hour},
			})
			must(t, err)
			time.Sleep(2 * time.Hour) // what was there before has settled
			do(articles)
			shut(t, engine)
		}
		var page docstore.FeedPage[int64, article]
		run(func(articles *docstore.Collection[int64, article]) {
			must(t, articles.Insert(t.Context(), article{ID: 1}))
			must(t, articles.Insert(t.Context(), article{ID: 2}))
		})
		copied, err := os.ReadFile(path)
		must(t, err)
		run(func(articles *docstore.Collection[int64, article]) {
			touched := make(chan error, 1)
			time.AfterFunc(time.Minute, func() { touched <- articles.Touch(t.Context(), 1, "content", nil) })
			page, err = articles.Feed(t.Context(), docstore.FeedQuery{Limit: 9}) // it waits for an hour
			must(t, errors.Join(err, <-touched))
			if len(page.Changes) != 1 || page.Changes[0].ID != 2 {
				t.Errorf("the follower has %v", page.Changes)
			}
		})
		must(t, os.WriteFile(path, copied, 0o600))
		run(func(articles *docstore.Collection[int64, article]) {
			if page, err = articles.Feed(t.Context(), docstore.FeedQuery{Limit: 9, Token: page.Next}); !errors.Is(err, docstore.ErrForgotten) {
				t.Errorf("it goes on with %d changes: %v", len(page.Changes), err)
			}
		})
	})
}

func TestTheFollowersOfManyStartsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	token, seen := "", 0
	for id := range int64(20) {
		engine := open(t, path)
		articles := followedArticles(t, engine)
		if id%3 != 0 {
			must(t, articles.Insert(t.Context(), article{ID: id}))
		}
		page, err := articles.Feed(t.Context(), docstore.FeedQuery{Token: token, Limit: 9})
		must(t, err)
		token, seen = page.Next, seen+len(page.Changes)
		shut(t, engine)
	}
	if seen != 13 {
		t.Errorf("the follower has seen %d changes, want 13", seen)
	}
}
