package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

func changesCases() []testCase {
	return []testCase{
		{"changes from nothing have each document once, created, and no deletion", changesFromNothing},
		{"changes since a token tell a document that is new from one that was there, and from one that is deleted", changesSinceAToken},
		{"a change that has not settled is listed again, and later is not", listsAgain},
		{"a touch is a change, and sets fields", touches},
		{"a change of what no follower sees is not listed", listsNoUnseen},
		{"changes from a moment have what has changed since, with the deletions that are kept", changesFromAMoment},
		{"pages of any limit have all changes in their order", changesPages},
		{"a token of another collection, or none at all, is refused as bad", refusesTokensOfChanges},
		{"a token after which deletions are forgotten is refused, and a younger one is not", forgets},
		{"a document with moments shows none", hidesMoments},
		{"a collection without a feed lists no changes", refusesChanges},
		{"a document that changes all the time is listed all the time", listsRestless},
		{"a follower that is killed at random has a copy of the store in the end", followsWriters},
	}
}

// ofChanges returns the names of the cases that list changes, for servers that have no snapshots.
func ofChanges() (names []string) {
	for _, c := range changesCases() {
		names = append(names, c.name)
	}
	return names
}

// post is a document of a collection with a feed.
type post struct {
	ID     int64  `bson:"_id"`
	Owner  int64  `bson:"owner"`
	Title  string `bson:"title"`
	Photos int64  `bson:"photos"`
	Hidden int64  `bson:"hidden"`
}

type posts = docstore.Collection[int64, post]

const postsSettling = 8 * time.Millisecond

func postSpec() docstore.Spec {
	return docstore.Spec{
		Name: "posts", ID: docstore.Int64, Tombstones: true, Indexes: []docstore.Index{byOwner().Declare()},
		Feed: &docstore.Feed{NotStamped: []string{"hidden"}, Settling: postsSettling},
	}
}

func openPosts(t *testing.T, engine docstore.Engine) *posts {
	t.Helper()
	return openAs[post](t, engine, postSpec())
}

// postFollower follows posts.
type postFollower struct {
	posts *posts
	token string
	// start is where it begins; zero for all.
	start time.Time
	limit int
}

// types are the changes of a round, by the ids of their documents.
type types = map[int64]docstore.ChangeType

// round returns the changes up to now.
func (f *postFollower) round(t *testing.T) types {
	t.Helper()
	all, last := types{}, time.Time{}
	for {
		page := changesOf(t, f.posts, docstore.ChangesQuery{Token: f.token, Start: f.start, Limit: f.limit})
		if len(page.Changes) > f.limit {
			t.Fatalf("got %d changes, limit %d", len(page.Changes), f.limit)
		}
		for _, each := range page.Changes {
			if all[each.ID] = each.Type; each.Time.Before(last) {
				t.Fatalf("document %d changed at %v, and the one before at %v", each.ID, each.Time, last)
			}
			last = each.Time
		}
		if f.token, f.start = page.Next, (time.Time{}); !page.More {
			return all
		}
	}
}

// rest waits until nothing is listed again.
func (f *postFollower) rest(t *testing.T) {
	t.Helper()
	for began := time.Now(); len(f.round(t)) > 0; time.Sleep(2 * postsSettling) {
		if time.Since(began) > time.Minute {
			t.Fatal("changes are listed for ever")
		}
	}
}

// resting returns a follower that has all changes.
func resting(t *testing.T, c *posts, limit int) *postFollower {
	t.Helper()
	f := &postFollower{posts: c, limit: limit}
	f.rest(t)
	return f
}

func rename(t *testing.T, c *posts, id int64, title string) {
	t.Helper()
	updated(t, c, id, func(p *post) { p.Title = title })
}

func changesFromNothing(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	wantEqual(t, "an empty collection", resting(t, c, 3).round(t), types{})
	insertAll(t, c, []post{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}, {ID: 3, Title: "c"}, {ID: 4}})
	rename(t, c, 1, "changed")
	must(t, c.Delete(t.Context(), 4))
	resting(t, c, 3)
	for _, limit := range []int{1, 2, 10} {
		wantEqual(t, "from nothing", (&postFollower{posts: c, limit: limit}).round(t),
			types{1: docstore.DocumentCreated, 2: docstore.DocumentCreated, 3: docstore.DocumentCreated})
	}
	page := changesOf(t, c, docstore.ChangesQuery{Limit: 2})
	wantEqual(t, "the first", []int64{page.Changes[0].ID, page.Changes[1].ID}, []int64{2, 3})
	wantEqual(t, "more", page.More, true)
}

func changesSinceAToken(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	f := resting(t, c, 3)
	insertAll(t, c, []post{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}})
	rename(t, c, 1, "b")
	wantEqual(t, "created and changed", f.round(t), types{1: docstore.DocumentCreated, 2: docstore.DocumentCreated})
	f.rest(t)
	rename(t, c, 1, "c")
	must(t, c.Insert(t.Context(), post{ID: 3}))
	wantEqual(t, "changed", f.round(t), types{1: docstore.DocumentChanged, 3: docstore.DocumentCreated})
	f.rest(t)
	must(t, c.Delete(t.Context(), 1))
	must(t, c.Insert(t.Context(), post{ID: 4})) // which the follower never sees
	must(t, c.Delete(t.Context(), 4))
	wantError(t, c.Delete(t.Context(), 1), docstore.ErrNotFound)
	wantEqual(t, "deleted", f.round(t), types{1: docstore.DocumentDeleted, 4: docstore.DocumentDeleted})
}

func listsAgain(t *testing.T, engine docstore.Engine) {
	spec := postSpec()
	spec.Feed.Settling = 4 * time.Second
	c := openAs[post](t, engine, spec)
	must(t, c.Insert(t.Context(), post{ID: 1}))
	f := &postFollower{posts: c, limit: 3}
	for range 3 {
		wantEqual(t, "within the settling time", f.round(t), types{1: docstore.DocumentCreated})
	}
	f.rest(t)
	wantEqual(t, "after it", f.round(t), types{})
}

func touch(t *testing.T, c *posts, id int64, set map[string]any) error {
	t.Helper()
	_, err := c.Modify(t.Context(), id, docstore.Edit{Set: set, Touches: true, Fields: []string{}})
	return err
}

func touches(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1, Title: "a", Photos: 1}, {ID: 2}})
	wantDuplicate(t, c.Insert(t.Context(), post{ID: 1}), docstore.IDIndex)
	f := resting(t, c, 3)
	must(t, touch(t, c, 1, nil))
	wantEqual(t, "changes", f.round(t), types{1: docstore.DocumentChanged})
	f.rest(t)
	must(t, touch(t, c, 2, map[string]any{"hidden": int64(3)}))
	wantEqual(t, "changes", f.round(t), types{2: docstore.DocumentChanged})
	wantEqual(t, "document", documentOf(t, c, 1), post{ID: 1, Title: "a", Photos: 1})
	wantEqual(t, "document", documentOf(t, c, 2), post{ID: 2, Hidden: 3})
	wantError(t, touch(t, c, 3, nil), docstore.ErrNotFound)
}

func listsNoUnseen(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1, Title: "a"}, {ID: 2, Title: "b"}})
	f := resting(t, c, 3)
	updated(t, c, 1, func(p *post) { p.Hidden++ })
	must(t, c.UpdateMany(t.Context(), []int64{1, 2}, func(p *post) bool { p.Hidden++; return true }))
	wantEqual(t, "unseen", f.round(t), types{})
	wantEqual(t, "stored", documentOf(t, c, 1), post{ID: 1, Title: "a", Hidden: 2})
	updated(t, c, 1, func(p *post) { p.Title = "c"; p.Hidden++ })
	wantEqual(t, "seen again", f.round(t), types{1: docstore.DocumentChanged})
}

func changesFromAMoment(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1}, {ID: 2, Title: "old"}, {ID: 3}, {ID: 4, Title: "b"}})
	must(t, c.Delete(t.Context(), 1))
	start := nextSecond(t, c)
	must(t, c.Delete(t.Context(), 3))
	rename(t, c, 4, "c")
	insertAll(t, c, []post{{ID: 5, Title: "new"}})
	want := types{3: docstore.DocumentDeleted, 4: docstore.DocumentChanged, 5: docstore.DocumentCreated}
	for _, limit := range []int{1, 5} {
		wantEqual(t, fmt.Sprint("since then, limit ", limit), (&postFollower{posts: c, limit: limit, start: start}).round(t), want)
	}
	wantEqual(t, "since ever", (&postFollower{posts: c, limit: 2, start: time.Unix(0, 0)}).round(t)[1], docstore.DocumentDeleted)
	future := &postFollower{posts: c, limit: 2, start: time.Now().Add(time.Hour)}
	for range 3 {
		wantEqual(t, "in the future", future.round(t), types{})
	}
	_, err := c.Changes(t.Context(), docstore.ChangesQuery{Start: start, Token: future.token, Limit: 2})
	wantError(t, err, docstore.ErrBadToken)
	resting(t, c, 5)
	begun := changesOf(t, c, docstore.ChangesQuery{Start: time.Unix(0, 0), Limit: 1})
	// The moments of a store may be ahead of the clock by what it counts in a second.
	must(t, c.Sweep(t.Context(), -10*time.Second, nil))
	(&postFollower{posts: c, limit: 2, token: begun.Next}).round(t) // deletions are forgotten that it did not need
	for id, each := range (&postFollower{posts: c, limit: 2, start: time.Unix(0, 0)}).round(t) {
		if each == docstore.DocumentDeleted {
			t.Errorf("document %d is listed, which is forgotten", id)
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

func changesPages(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	var all []post
	for id := range int64(20) {
		all = append(all, post{ID: id})
	}
	start := resting(t, c, 1)
	insertAll(t, c, all)
	want := types{}
	for id := range int64(20) {
		want[id] = docstore.DocumentCreated
	}
	for id := int64(0); id < 20; id += 3 {
		must(t, c.Delete(t.Context(), id))
		want[id] = docstore.DocumentDeleted
		rename(t, c, (id+1)%20, fmt.Sprint("after ", id))
	}
	for _, limit := range []int{1, 2, 7, 20, 1000} {
		f := &postFollower{posts: c, limit: limit, token: start.token}
		wantEqual(t, fmt.Sprint("limit ", limit), f.round(t), want)
		f.rest(t)
	}
}

func refusesTokensOfChanges(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	other := postSpec()
	other.Name = "others"
	page, err := openAs[post](t, engine, other).Changes(t.Context(), docstore.ChangesQuery{Limit: 1})
	must(t, err)
	mine := changesOf(t, c, docstore.ChangesQuery{Limit: 1})
	long, err := docstore.DecodeToken(mine.Next)
	must(t, err)
	tokens := []string{
		page.Next, "x", "!", mine.Next[:8], mine.Next + "AA", mine.Next + "\r", docstore.EncodeToken(append(long, 1, 2, 3, 4, 5, 6, 7, 8, 9)),
	}
	for length := range long {
		tokens = append(tokens, docstore.EncodeToken(long[:length]))
	}
	for _, token := range tokens {
		_, err := c.Changes(t.Context(), docstore.ChangesQuery{Token: token, Limit: 1})
		wantError(t, err, docstore.ErrBadToken)
	}
}

func forgets(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	insertAll(t, c, []post{{ID: 1}, {ID: 2, Title: "stays"}, {ID: 3}, {ID: 4}})
	old := resting(t, c, 5)
	must(t, c.Delete(t.Context(), 1))
	recent := &postFollower{posts: c, limit: 5, token: old.token}
	recent.rest(t)
	must(t, c.Sweep(t.Context(), time.Hour, nil))
	wantEqual(t, "within an hour", (&postFollower{posts: c, limit: 5, token: old.token}).round(t), types{1: docstore.DocumentDeleted})
	must(t, c.Delete(t.Context(), 3))
	recent.rest(t)
	// The moments of a store may be ahead of the clock by what it counts in a second.
	must(t, c.Sweep(t.Context(), -10*time.Second, nil))
	_, err := c.Changes(t.Context(), docstore.ChangesQuery{Token: old.token, Limit: 5})
	wantError(t, err, docstore.ErrForgotten)
	must(t, c.Delete(t.Context(), 4))
	wantEqual(t, "since then", recent.round(t)[4], docstore.DocumentDeleted)
	resting(t, c, 1)
	wantEqual(t, "anew", (&postFollower{posts: c, limit: 1}).round(t), types{2: docstore.DocumentCreated})
}

func hidesMoments(t *testing.T, engine docstore.Engine) {
	c, table := openPosts(t, engine), openTable(t, engine, postSpec())
	must(t, c.Insert(t.Context(), post{ID: 1, Title: "a"}))
	rename(t, c, 1, "b")
	got := rawOf(t, table, 1)
	scanned, _ := scanRaw(t, table, docstore.Scan{Where: where(docstore.IDIndex), Limit: 1})
	for _, document := range append(scanned, got) {
		for _, field := range []string{docstore.ChangedField, docstore.MadeField, docstore.PlaceField} {
			if _, err := document.LookupErr(field); err == nil {
				t.Fatalf("the document shows %s: %v", field, document)
			}
		}
	}
}

func refusesChanges(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	_, err := openPlaces(t, engine).Changes(t.Context(), docstore.ChangesQuery{Limit: 1})
	wantPlain(t, err)
	_, err = c.Changes(t.Context(), docstore.ChangesQuery{})
	wantPlain(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Changes(ended, docstore.ChangesQuery{Limit: 1})
	wantError(t, err, context.Canceled)
}

func listsRestless(t *testing.T, engine docstore.Engine) {
	c := openPosts(t, engine)
	must(t, c.Insert(t.Context(), post{ID: 1}))
	f := resting(t, c, 2)
	for n := range 5 {
		rename(t, c, 1, fmt.Sprint(n))
		wantEqual(t, "a round", f.round(t), types{1: docstore.DocumentChanged})
		time.Sleep(postsSettling / 2)
	}
}

func idsOfTypes(listed types) []int64 {
	return slices.Sorted(maps.Keys(listed))
}
