package embedded_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
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

func TestTheFollowersOfAStoreStartAnewAfterARestore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, path)
	articles := followedArticles(t, engine)
	must(t, articles.Insert(t.Context(), article{ID: 1}))
	page, err := articles.Feed(t.Context(), docstore.FeedQuery{Limit: 1})
	must(t, err)
	shut(t, engine)
	must(t, embedded.RenewFeeds(t.Context(), path))
	engine = open(t, path)
	articles = followedArticles(t, engine)
	if _, err := articles.Feed(t.Context(), docstore.FeedQuery{Token: page.Next, Limit: 1}); !errors.Is(err, docstore.ErrForgotten) {
		t.Errorf("got %v", err)
	}
	if page, err = articles.Feed(t.Context(), docstore.FeedQuery{Limit: 1}); err != nil || len(page.Changes) != 1 {
		t.Errorf("anew: %v, %v", page, err)
	}
	must(t, engine.Check(t.Context()))
	shut(t, engine)
}
