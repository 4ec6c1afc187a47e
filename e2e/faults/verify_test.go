//go:build linux

package faults

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/e2e/faults/history"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// insist retries until there is an answer. If there is none, it reports a violation, and later
// calls no longer wait for recovery.
func (c *clients) insist(ctx context.Context, what string, try func(context.Context) bool) {
	ctx, cancel := context.WithTimeout(ctx, c.recovery)
	defer cancel()
	for !try(ctx) {
		if ctx.Err() != nil {
			c.complain(history.Late, "after all faults: %s", what)
			c.recovery = 0
			return
		}
		pause(ctx, callPause)
	}
}

// settle checks that every service is reachable through the edge again. It repeats all
// unacknowledged requests, so that the counts are known exactly.
func (c *clients) settle(ctx context.Context, w *world, all []*worker) {
	for _, kind := range []string{"album", "blog"} {
		c.insist(ctx, "a new "+kind, func(ctx context.Context) bool { return all[0].createOf(ctx, kind) })
	}
	c.insist(ctx, "a landmark", func(ctx context.Context) bool {
		return c.readThing(ctx, false, history.NameThing("poi", w.shared["poi"].id))
	})
	for _, worker := range all {
		for i := range worker.requests {
			if r := &worker.requests[i]; !r.isAcknowledged {
				c.insist(ctx, "a request", func(ctx context.Context) bool { return r.attempt(ctx, c) })
			}
		}
	}
	for _, voter := range w.voters {
		for kind := range w.shared {
			c.insist(ctx, "a recommendation", func(ctx context.Context) bool { return c.recommend(ctx, w, kind, voter) })
		}
		c.insist(ctx, "a ballot", func(ctx context.Context) bool { return c.vote(ctx, w, voter) })
	}
}

// readAll reads all data.
func (c *clients) readAll(ctx context.Context, w *world) {
	for n, thing := range w.things() {
		c.insist(ctx, string(thing), func(ctx context.Context) bool { return c.readThing(ctx, n%2 == 0, thing) })
	}
	c.insist(ctx, "landmarks", func(ctx context.Context) bool { return c.readLandmarks(ctx, false) })
	for _, u := range w.users {
		c.insist(ctx, "albums", func(ctx context.Context) bool { return c.readAlbums(ctx, false, u) })
		c.insist(ctx, "entries", func(ctx context.Context) bool { return c.readEntries(ctx, w, u) })
	}
	for kind, on := range w.shared {
		c.insist(ctx, "comments", func(ctx context.Context) bool {
			r, span, ok := call(ctx, c, w.Comment.ListComments, waybooktest.On(on.kind, on.id, &commentv1.ListCommentsRequest{PageSize: 1000}))
			return ok && c.readComments(span, history.NameThing(kind, on.id), r.GetComments(), r.GetNextPageToken())
		})
	}
	for patience := time.Now().Add(longestMiscount); c.recovery > 0; {
		isExact := false
		c.insist(ctx, "counts", func(ctx context.Context) (isRead bool) {
			isExact, isRead = c.readCounts(ctx, w, time.Now().After(patience))
			return isRead
		})
		if isExact {
			break
		}
		pause(ctx, time.Second)
	}
	for _, u := range w.users {
		c.readRewards(ctx, w, u)
	}
}

// readEntries reads all pages of a user's entries.
func (c *clients) readEntries(ctx context.Context, w *world, u user) bool {
	listing := history.Listing{List: u.list("blog")}
	for token := ""; ; {
		r, span, ok := call(ctx, c, w.Blog.ListBlogs, &blogv1.ListBlogsRequest{AuthorId: u.id, PageToken: token})
		if !ok {
			return false
		}
		if token == "" {
			listing.Begin = span.Begin
		}
		for _, b := range r.GetBlogs() {
			listing.Items = append(listing.Items, history.Item{ID: b.GetBlogId(), Value: b.GetTitle()})
		}
		if token = r.GetNextPageToken(); token == "" {
			listing.End = span.End
			c.history.Record(listing)
			return true
		}
	}
}

func (c *clients) readComments(span history.Span, thing history.Thing, comments []*commentv1.Comment, next string) bool {
	if next != "" {
		c.complain(history.Miscounted, "%s has more than %d comments", thing, len(comments))
	}
	listing := history.Listing{Span: span, List: thread(thing)}
	for _, comment := range comments {
		listing.Items = append(listing.Items, history.Item{ID: comment.GetCommentId(), Value: comment.GetText()})
	}
	c.history.Record(listing)
	return true
}

// longestMiscount is how long after a fault a sweep may take to count the choices that it has interrupted.
const longestMiscount = 2 * time.Minute

// readCounts reads scores and votes as /API.php shows them. All voters have chosen everything. It records them if they are
// exact, or if isLast.
func (c *clients) readCounts(ctx context.Context, w *world, isLast bool) (isDone, isRead bool) {
	var all []any
	left := int64(len(w.voters) * (len(w.shared) + 1))
	count := func(tally string, n int64) {
		all = append(all, history.Count{Tally: tally, Count: n})
		left -= n
	}
	for kind, of := range w.shared {
		a := c.post(ctx, "", true, "func", names[kind].get, names[kind].id, strconv.FormatInt(of.id, 10))
		if !a.isAcknowledged {
			return false, false
		}
		count(scoreOf(kind), c.number(a.at("score")))
		for i, choice := range a.at("vote", "choices").children {
			count(votesFor(int32(i+1)), c.number(choice.at("votes")))
		}
	}
	if left != 0 && !isLast {
		return false, true
	}
	if len(all) != 3+choices {
		c.complain(history.Malformed, "%d counts", len(all))
	}
	c.history.Record(all...)
	return true, true
}

func (c *clients) number(d document) int64 {
	n, err := strconv.ParseInt(d.text, 10, 64)
	if err != nil {
		c.complain(history.Malformed, "a count: %v", err)
	}
	return n
}

// readRewards waits until a sweep, which runs once a minute, has granted the missing rewards, and records the result.
func (c *clients) readRewards(ctx context.Context, w *world, u user) {
	const reward = 10
	list := u.list("blog")
	want := c.history.Made(list)
	var last waybooktest.Rewards
	read := func(ctx context.Context, of *accountv1.ListRewardsRequest, _ ...grpc.CallOption) (waybooktest.Rewards, error) {
		return waybooktest.RewardsOf(ctx, w.Account, of.GetUserId())
	}
	ctx, cancel := context.WithTimeout(ctx, c.recovery+time.Minute)
	defer cancel()
	for ctx.Err() == nil && last.Count != want {
		if r, _, ok := call(ctx, c, read, &accountv1.ListRewardsRequest{UserId: u.id}); ok {
			last = r
		}
		pause(ctx, callPause)
	}
	if last.Count != want {
		c.recovery = 0
	}
	c.history.Record(history.Rewarded{List: list, Count: last.Count})
	if last.Total != reward*last.Count {
		c.complain(history.Miscounted, "%d rewards have the total %d", last.Count, last.Total)
	}
}
