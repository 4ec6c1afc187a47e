package world

import (
	"context"
	"maps"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
)

// follower has a copy of the contents of a kind.
type follower struct {
	token string
	// titles are those of the contents, by their identifiers.
	titles map[int64]string
}

// follow lists a page of changes, and reads what has changed. It reports whether more may follow.
func (w *world) follow(k *kind) (more bool) {
	f := w.followers[k]
	p := w.anyProgram()
	page, err := p.Change.ListChanges(context.Background(), &changev1.ListChangesRequest{Kind: k.number, PageToken: f.token})
	var ids []int64
	for _, each := range page.GetChanges() {
		ids = append(ids, each.GetId())
	}
	titles := map[int64]string{}
	if err == nil && len(ids) > 0 {
		titles, err = k.read(p, ids)
	}
	w.turns.wait(sweeper.context())
	switch {
	case p.isGone() || w.mayFail && (status.Code(err) == codes.Unavailable || status.Code(err) == codes.DeadlineExceeded):
		return false
	case status.Code(err) == codes.FailedPrecondition:
		w.note("the follower of each %s starts anew", k.name)
		*f = follower{}
		return true
	case err != nil:
		w.violated("the follower: %v", err)
		return false
	}
	if f.token == "" {
		f.titles = map[int64]string{}
	}
	for _, each := range page.GetChanges() {
		title, isThere := titles[each.GetId()]
		if delete(f.titles, w.shown(each.GetId())); isThere {
			f.titles[w.shown(each.GetId())] = title
		}
	}
	w.note("the follower of each %s reads %d changes", k.name, len(ids))
	f.token = page.GetNextPageToken()
	return page.GetHasMore()
}

// followRestless reads changes while a document does not rest. Then the operator does something, after which
// the copy must be right before the document changes again.
func (w *world) followRestless() {
	for _, c := range w.model.contents {
		if c.id == 0 || c.exists == no || c.owner.isGone {
			continue
		}
		w.turns.run(w.random, []func(){func() {
			for range 15 {
				w.rename(c)
				time.Sleep(700 * time.Millisecond)
				w.turns.wait(c.owner.context())
			}
		}, func() {
			for range 4 {
				w.follow(c.kind)
			}
		}})
		w.system.operate()
		w.settle()
		return
	}
}

// hasCopy compares the copy of a follower with what there is, which clients have just read.
func (w *world) hasCopy(k *kind) {
	for w.follow(k) {
	}
	there := map[int64]string{}
	for _, c := range w.model.contents {
		if c.kind == k && c.exists == yes {
			there[c.id] = c.titles[0]
		}
	}
	if copied := w.followers[k].titles; !maps.Equal(copied, there) {
		w.violated("the follower of each %s has %v; there is %v", k.name, copied, there)
	}
}
