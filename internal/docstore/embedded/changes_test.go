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

const settling = 10 * time.Millisecond

func followedArticles(t *testing.T, engine *embedded.Engine) *docstore.Collection[int64, article] {
	t.Helper()
	articles, err := docstore.Open[int64, article](t.Context(), engine, docstore.Spec{
		Name: "followed", ID: docstore.Int64, Tombstones: true, Feed: &docstore.Feed{Settling: settling},
	})
	must(t, err)
	return articles
}

// follower lists changes of articles.
type follower struct{ token string }

func (f *follower) list(t *testing.T, articles *docstore.Collection[int64, article]) (ids []int64, err error) {
	t.Helper()
	page, err := articles.Changes(t.Context(), docstore.ChangesQuery{Token: f.token, Limit: 100})
	if err != nil {
		return nil, err
	}
	f.token = page.Next
	for _, change := range page.Changes {
		ids = append(ids, change.ID)
	}
	return ids, nil
}

// rest lists changes until none is listed again.
func (f *follower) rest(t *testing.T, articles *docstore.Collection[int64, article]) {
	t.Helper()
	for {
		ids, err := f.list(t, articles)
		if must(t, err); len(ids) == 0 {
			return
		}
		time.Sleep(settling)
	}
}

func TestAClockThatStepsBackSkipsNoChange(t *testing.T) {
	path, clock := filepath.Join(t.TempDir(), "store.db"), time.Now()
	now := func() time.Time { return clock }
	engine, err := embedded.OpenWithClock(path, now)
	must(t, err)
	articles := followedArticles(t, engine)
	var f follower
	for id, step := range []time.Duration{0, time.Hour, -2 * time.Hour, -time.Hour, 30 * time.Minute} {
		clock = clock.Add(step)
		must(t, articles.Insert(t.Context(), article{ID: int64(id)}))
		ids, err := f.list(t, articles)
		if must(t, err); !slices.Contains(ids, int64(id)) {
			t.Errorf("change %d is not in %v", id, ids)
		}
		f.rest(t, articles)
		if id == 3 {
			shut(t, engine)
			clock = clock.Add(-time.Hour)
			engine, err = embedded.OpenWithClock(path, now)
			must(t, err)
			articles = followedArticles(t, engine)
		}
	}
	must(t, engine.Check(t.Context()))
	shut(t, engine)
}

// What a writer stores beside a document that it has touched is there when the document is listed for the last time.
func TestAChangeIsListedForASettlingTimeWhateverTheClockOfTheStoreDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := time.Duration(0)
		engine, err := embedded.OpenWithClock(filepath.Join(t.TempDir(), "store.db"), func() time.Time { return time.Now().Add(step) })
		must(t, err)
		defer shut(t, engine)
		articles := followedArticles(t, engine)
		must(t, articles.Insert(t.Context(), article{ID: 1}))
		var f follower
		f.rest(t, articles)
		for range 20 {
			_, err := articles.Modify(t.Context(), 1, docstore.Edit{Touches: true, Fields: []string{}})
			must(t, err)
			touched, last := time.Now(), time.Now()
			for step += time.Hour; ; time.Sleep(settling / 4) {
				ids, err := f.list(t, articles)
				if must(t, err); len(ids) == 0 {
					break
				}
				last = time.Now()
			}
			if listed := last.Sub(touched); listed < settling || listed > 3*settling {
				t.Errorf("it was listed for %v", listed)
			}
		}
	})
}

// A file is put back, as a copy of a stopped store comes back.
func TestAFollowerThatIsAheadOfAFileThatWasPutBackStartsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, path)
	articles := followedArticles(t, engine)
	must(t, articles.Insert(t.Context(), article{ID: 1}))
	var early follower
	early.rest(t, articles)
	shut(t, engine)
	copied, err := os.ReadFile(path)
	must(t, err)

	engine = open(t, path)
	articles = followedArticles(t, engine)
	must(t, articles.Insert(t.Context(), article{ID: 2}))
	late := early
	late.rest(t, articles)
	shut(t, engine)

	must(t, os.WriteFile(path, copied, 0o600))
	engine = open(t, path)
	defer shut(t, engine)
	articles = followedArticles(t, engine)
	if _, err := late.list(t, articles); !errors.Is(err, docstore.ErrForgotten) {
		t.Errorf("a follower that is ahead: %v", err)
	}
	_, err = early.list(t, articles)
	must(t, err)
	must(t, engine.Renew(t.Context()))
	if _, err := early.list(t, articles); !errors.Is(err, docstore.ErrForgotten) {
		t.Errorf("a follower of a store with another identifier: %v", err)
	}
}

func TestTheFollowersOfManyStartsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var f follower
	for id := range int64(20) {
		engine := open(t, path)
		articles := followedArticles(t, engine)
		if id%3 != 0 {
			must(t, articles.Insert(t.Context(), article{ID: id}))
		}
		ids, err := f.list(t, articles)
		if must(t, err); id%3 != 0 && !slices.Contains(ids, id) {
			t.Errorf("change %d is not in %v", id, ids)
		}
		shut(t, engine)
	}
}
