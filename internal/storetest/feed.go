package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/chance"
	"github.com/waybook/waybook/internal/docstore"
)

func feedCases() []testCase {
	return []testCase{
		{"a feed from nothing has each document once, created, and then what changes", feedsFromNothing},
		{"a feed tells a document that is new since the token from one that was there", feedsKinds},
		{"a change raises the revision, and those of the parts that it changes", feedsParts},
		{"a touch raises the revision of a part alone", feedsTouches},
		{"a change of what no follower sees is not in the feed", feedsNoUnseen},
		{"a deletion is in the feed, also of a document that the follower never saw", feedsDeletions},
		{"a feed from nothing has no deletions", feedsNoOldDeletions},
		{"a feed from a moment has what has changed since, with the deletions that are kept", feedsFromAMoment},
		{"pages of any limit have the same changes in the same order", feedsPages},
		{"a token of another collection, or none at all, is refused as bad", refusesFeedTokens},
		{"a token after which deletions are forgotten is refused, and a younger one is not", forgets},
		{"a document from a feed's collection shows no moments", hidesMoments},
		{"a collection without a feed refuses Feed", refusesFeeds},
		{"a document that never rests is in the feed", feedsRestless},
		{"a follower that is killed at random has a copy of the store in the end", followsWriters},
	}
}

// post is a document of a collection with a feed.
type post struct {
	ID      int64  `bson:"_id"`
	Owner   int64  `bson:"owner"`
	Title   string `bson:"title"`
	Photos  int64  `bson:"photos"`
	Votes   votes  `bson:"votes"`
	Touched int64  `bson:"touched"`
	Hidden  int64  `bson:"hidden"`
}

type votes struct {
	Yes int64 `bson:"yes"`
}

type posts = docstore.Collection[int64, post]

func postSpec() docstore.Spec {
	return docstore.Spec{
		Name: "posts", ID: docstore.Int64, Tombstones: true, Indexes: []docstore.Index{byOwner().Declare()},
		Feed: &docstore.Feed{
			Parts:  []docstore.Part{{Name: "photos", Fields: []string{"photos"}}, {Name: "numbers", Fields: []string{"votes"}}},
			Rest:   "content",
			NoPart: []string{"touched"}, NotStamped: []string{"hidden"}, Settling: 8 * time.Millisecond,
		},
	}
}

func openPosts(t *testing.T, engine docstore.Engine) *posts {
	t.Helper()
	return openAs[post](t, engine, postSpec())
}

// follower follows posts.
type follower struct {
	posts *posts
	token string
	// start is where it begins; zero for all.
	start time.Time
	limit int
}

// entry is what a test compares of a change.
type entry struct {
	ID       int64
	Kind     docstore.FeedKind
	Revision int64
	Title    string
}

// markers are the ids of documents that only show a follower how far it is.
const markers = 1 << 30

// catchUp returns the changes until now. It stores a document, and reads until it sees it.
func (f *follower) catchUp(t *testing.T) (changes []docstore.FeedChange[int64, post]) {
	t.Helper()
	marker := post{ID: markers + chance.Below[int64](1<<30)}
	must(t, f.posts.Insert(t.Context(), marker))
	for isThere := false; !isThere; {
		page := feedOf(t, f.posts, docstore.FeedQuery{Token: f.token, Start: f.start, Limit: f.limit, WithDocuments: true})
		if len(page.Changes) > f.limit {
			t.Fatalf("got %d changes, limit %d", len(page.Changes), f.limit)
		}
		for _, each := range page.Changes {
			if isThere = isThere || each.ID == marker.ID; each.ID < markers {
				changes = append(changes, each)
			}
		}
		f.token, f.start = page.Next, time.Time{}
	}
	for i := 1; i < len(changes); i++ {
		if changes[i].Time.Before(changes[i-1].Time) {
			t.Fatalf("change %d is of %v, after one of %v", i, changes[i].Time, changes[i-1].Time)
		}
	}
	return changes
}

// entries is catchUp for a comparison.
func (f *follower) entries(t *testing.T) (entries []entry) {
	t.Helper()
	for _, each := range f.catchUp(t) {
		e := entry{ID: each.ID, Kind: each.Kind, Revision: each.Revision}
		if each.Document != nil {
			e.Title = each.Document.Title
		}
		entries = append(entries, e)
	}
	return entries
}

func rename(t *testing.T, c *posts, id int64, title string) {
	t.Helper()
	updated(t, c, id, func(p *post) { p.Title = title })
}

func feedsFromNothing(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}, {ID: 3, Title: "c"}})
	rename(t, c, 1, "changed")
	f := &follower{posts: c, limit: 10}
	wantEqual(t, "from nothing", f.entries(t), []entry{
		{2, docstore.DocumentCreated, 1, "b"}, {3, docstore.DocumentCreated, 1, "c"}, {1, docstore.DocumentCreated, 2, "changed"},
	})
	rename(t, c, 3, "later")
	must(t, c.Insert(t.Context(), post{ID: 4, Title: "new"}))
	wantEqual(t, "what follows", f.entries(t), []entry{{3, docstore.DocumentChanged, 2, "later"}, {4, docstore.DocumentCreated, 1, "new"}})
	wantEqual(t, "nothing more", f.entries(t), []entry(nil))
}

func feedsKinds(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	f := &follower{posts: c, limit: 3}
	wantEqual(t, "an empty collection", f.entries(t), []entry(nil))
	must(t, c.Insert(t.Context(), post{ID: 1, Title: "a"}))
	rename(t, c, 1, "b")
	wantEqual(t, "created and changed", f.entries(t), []entry{{1, docstore.DocumentCreated, 2, "b"}})
	rename(t, c, 1, "c")
	wantEqual(t, "changed", f.entries(t), []entry{{1, docstore.DocumentChanged, 3, "c"}})
	must(t, c.Delete(t.Context(), 1))
	wantEqual(t, "deleted", f.entries(t), []entry{{1, docstore.DocumentDeleted, 0, ""}})
}

func feedsParts(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	f := &follower{posts: c, limit: 3}
	must(t, c.Insert(t.Context(), post{ID: 1}))
	for i, step := range []struct {
		name   string
		change func() error
		want   map[string]int64
	}{
		{"new", func() error { return nil }, map[string]int64{"content": 1, "photos": 0, "numbers": 0}},
		{"a field", func() error {
			_, err := c.Update(t.Context(), 1, func(p *post) error { p.Title = "x"; return nil })
			return err
		},
			map[string]int64{"content": 2, "photos": 0, "numbers": 0}},
		{"a field inside", func() error {
			_, err := c.Update(t.Context(), 1, func(p *post) error { p.Votes.Yes++; return nil })
			return err
		},
			map[string]int64{"content": 2, "photos": 0, "numbers": 1}},
		{"two parts", func() error {
			_, err := c.Update(t.Context(), 1, func(p *post) error { p.Votes.Yes++; p.Photos++; return nil })
			return err
		}, map[string]int64{"content": 2, "photos": 1, "numbers": 2}},
		{"a raise", func() error {
			_, err := c.Raise(t.Context(), 1, docstore.Amount{Field: "photos", By: 9}, nil)
			return err
		}, map[string]int64{"content": 2, "photos": 2, "numbers": 2}},
		{"a touch that sets fields", func() error {
			return c.Touch(t.Context(), 1, "photos", map[string]any{"touched": int64(9), "title": "z"})
		}, map[string]int64{"content": 3, "photos": 3, "numbers": 2}},
		{"a silent field", func() error {
			_, err := c.Update(t.Context(), 1, func(p *post) error { p.Touched++; return nil })
			return err
		},
			map[string]int64{"content": 3, "photos": 3, "numbers": 2}},
		{"several", func() error {
			return c.UpdateMany(t.Context(), []int64{1}, func(p *post) bool { p.Title = "y"; return true })
		},
			map[string]int64{"content": 4, "photos": 3, "numbers": 2}},
	} {
		must(t, step.change())
		changes := f.catchUp(t)
		if len(changes) != 1 {
			t.Fatalf("%s: got %d changes", step.name, len(changes))
		}
		wantEqual(t, step.name, changes[0].Parts, step.want)
		wantEqual(t, "revision after "+step.name, changes[0].Revision, int64(i+1))
	}
}

func feedsTouches(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	f := &follower{posts: c, limit: 3}
	want := post{ID: 1, Title: "a", Photos: 1}
	must(t, c.Insert(t.Context(), want))
	wantDuplicate(t, c.Insert(t.Context(), want), docstore.IDIndex)
	f.catchUp(t)
	must(t, c.Touch(t.Context(), 1, "photos", nil))
	changes := f.catchUp(t)
	wantEqual(t, "parts", changes[0].Parts, map[string]int64{"content": 1, "photos": 1, "numbers": 0})
	wantEqual(t, "document", *changes[0].Document, want)
	wantError(t, c.Touch(t.Context(), 2, "photos", nil), docstore.ErrNotFound)
}

func feedsNoUnseen(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	f := &follower{posts: c, limit: 3}
	insertAll(t, c, []post{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}})
	hide := func(p *post) error { p.Hidden++; return nil }
	_, err := c.Update(t.Context(), 1, hide)
	must(t, err)
	wantEqual(t, "new", f.entries(t), []entry{{1, docstore.DocumentCreated, 2, "a"}, {2, docstore.DocumentCreated, 1, "b"}})
	_, err = c.Update(t.Context(), 1, hide)
	must(t, err)
	must(t, c.UpdateMany(t.Context(), []int64{1, 2}, func(p *post) bool { p.Hidden++; return true }))
	wantEqual(t, "unseen", f.entries(t), []entry(nil))
	wantEqual(t, "stored", documentOf(t, c, 1), post{ID: 1, Title: "a", Hidden: 3})
	updated(t, c, 1, func(p *post) { p.Title = "c"; p.Hidden++ })
	wantEqual(t, "seen again", f.entries(t), []entry{{1, docstore.DocumentChanged, 5, "c"}})
	must(t, c.Delete(t.Context(), 2))
	wantEqual(t, "deleted", f.entries(t), []entry{{2, docstore.DocumentDeleted, 0, ""}})
}

func feedsDeletions(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}})
	f := &follower{posts: c, limit: 1}
	early := &follower{posts: c, limit: 5}
	f.catchUp(t)
	early.catchUp(t)
	must(t, c.Delete(t.Context(), 1))
	must(t, c.Delete(t.Context(), 2))
	wantError(t, c.Delete(t.Context(), 2), docstore.ErrNotFound)
	got := map[int64]docstore.FeedKind{}
	for _, each := range f.catchUp(t) {
		got[each.ID] = each.Kind
	}
	wantEqual(t, "deleted", got, map[int64]docstore.FeedKind{1: docstore.DocumentDeleted, 2: docstore.DocumentDeleted})
	must(t, c.Insert(t.Context(), post{ID: 3}))
	must(t, c.Delete(t.Context(), 3))
	for _, each := range []*follower{f, early} {
		seen := each.entries(t)
		wantEqual(t, "the last change", seen[len(seen)-1], entry{3, docstore.DocumentDeleted, 0, ""})
	}
}

func feedsNoOldDeletions(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	(&follower{posts: c, limit: 5}).catchUp(t)
	insertAll(t, c, []post{{ID: 1}, {ID: 2, Title: "stays"}})
	must(t, c.Delete(t.Context(), 1))
	(&follower{posts: c, limit: 5}).catchUp(t)
	wantEqual(t, "from nothing", (&follower{posts: c, limit: 2}).entries(t), []entry{{2, docstore.DocumentCreated, 1, "stays"}})
}

func feedsPages(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	var all []post
	for id := range int64(20) {
		all = append(all, post{ID: id})
	}
	start := &follower{posts: c, limit: 1}
	start.catchUp(t)
	insertAll(t, c, all)
	for id := int64(0); id < 20; id += 3 {
		must(t, c.Delete(t.Context(), id))
		rename(t, c, (id+1)%20, fmt.Sprint("after ", id))
	}
	want := (&follower{posts: c, limit: 1000, token: start.token}).entries(t)
	if len(want) != 20 {
		t.Fatalf("got %d changes of 20 documents", len(want))
	}
	for _, limit := range []int{1, 2, 7, 20} {
		wantEqual(t, fmt.Sprint("limit ", limit), (&follower{posts: c, limit: limit, token: start.token}).entries(t), want)
	}
}

func feedsBudget(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	for id := range int64(8) {
		must(t, c.Insert(t.Context(), post{ID: id, Title: strings.Repeat("x", docstore.MaxBatchBytes/3)}))
	}
	query := docstore.FeedQuery{Limit: 100, WithDocuments: true}
	for seen := 0; seen < 8; {
		page := feedOf(t, c, query)
		if len(page.Changes) > 3 {
			t.Fatalf("a page has %d documents", len(page.Changes))
		}
		seen += len(page.Changes)
		query.Token = page.Next
	}
}

func refusesFeedTokens(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	other := postSpec()
	other.Name = "others"
	page, err := openAs[post](t, engine, other).Feed(t.Context(), docstore.FeedQuery{Limit: 1})
	must(t, err)
	mine := feedOf(t, c, docstore.FeedQuery{Limit: 1})
	long, err := docstore.DecodeToken(mine.Next)
	must(t, err)
	tokens := []string{
		page.Next, "x", "!", mine.Next[:8], mine.Next + "AA", mine.Next + "\r", docstore.EncodeToken(append(long, 1, 2, 3, 4, 5, 6, 7, 8, 9)),
	}
	for length := range long {
		tokens = append(tokens, docstore.EncodeToken(long[:length]))
	}
	for _, token := range tokens {
		_, err := c.Feed(t.Context(), docstore.FeedQuery{Token: token, Limit: 1})
		wantError(t, err, docstore.ErrBadToken)
	}
}

func forgets(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1}, {ID: 2, Title: "stays"}, {ID: 3}, {ID: 4}})
	old := &follower{posts: c, limit: 5}
	old.catchUp(t)
	must(t, c.Delete(t.Context(), 1))
	recent := &follower{posts: c, limit: 5, token: old.token}
	recent.catchUp(t)
	must(t, c.Sweep(t.Context(), time.Hour, nil))
	wantEqual(t, "within an hour", (&follower{posts: c, limit: 5, token: old.token}).entries(t), []entry{{1, docstore.DocumentDeleted, 0, ""}})
	must(t, c.Delete(t.Context(), 3))
	recent.catchUp(t)
	// The moments of a store may be ahead of the clock by what it counts in a second.
	must(t, c.Sweep(t.Context(), -10*time.Second, nil))
	_, err := c.Feed(t.Context(), docstore.FeedQuery{Token: old.token, Limit: 5})
	wantError(t, err, docstore.ErrForgotten)
	must(t, c.Delete(t.Context(), 4))
	wantEqual(t, "since then", recent.entries(t), []entry{{4, docstore.DocumentDeleted, 0, ""}})
	anew := &follower{posts: c, limit: 1}
	wantEqual(t, "anew", anew.entries(t), []entry{{2, docstore.DocumentCreated, 1, "stays"}})
}

func hidesMoments(t *testing.T, engine docstore.Engine) {
	c, table := openPosts(t, engine), openTable(t, engine, postSpec())
	must(t, c.Insert(t.Context(), post{ID: 1, Title: "a"}))
	rename(t, c, 1, "b")
	batch, err := table.Feed(t.Context(), docstore.FeedScan{Limit: 1})
	must(t, err)
	got := rawOf(t, table, 1)
	scanned, _ := scanRaw(t, table, docstore.Scan{Where: where(docstore.IDIndex), Limit: 1})
	for _, document := range append(scanned, got, batch.Changes[0].Document) {
		for _, field := range []string{docstore.ChangedField, docstore.MadeField, docstore.PlaceField} {
			if _, err := document.LookupErr(field); err == nil {
				t.Fatalf("the document shows %s: %v", field, document)
			}
		}
	}
}

func refusesFeeds(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	_, err := openPlaces(t, engine).Feed(t.Context(), docstore.FeedQuery{Limit: 1})
	wantPlain(t, err)
	_, err = c.Feed(t.Context(), docstore.FeedQuery{})
	wantPlain(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Feed(ended, docstore.FeedQuery{Limit: 1})
	wantError(t, err, context.Canceled)
}
