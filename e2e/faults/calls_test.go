//go:build linux

package faults

import (
	"context"
	"fmt"

	"github.com/waybook/waybook/e2e/faults/history"
	"github.com/waybook/waybook/internal/waybooktest"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

// request is a call that creates something and may be repeated. send returns the id.
type request struct {
	list           history.List
	value          string
	isAcknowledged bool
	send           func(ctx context.Context, c *clients) (int64, history.Span, bool)
}

// attempt sends a request and records the outcome.
func (r *request) attempt(ctx context.Context, c *clients) bool {
	id, span, isAcknowledged := r.send(ctx, c)
	if !isAcknowledged {
		id = 0
	}
	r.isAcknowledged = r.isAcknowledged || isAcknowledged
	c.history.Record(history.Add{Span: span, List: r.list, Value: r.value, ID: id})
	return isAcknowledged
}

func (w *worker) begin(ctx context.Context, r request) bool {
	isAcknowledged := r.attempt(ctx, w.clients)
	w.requests = append(w.requests, r)
	return isAcknowledged
}

// repeat sends a request again, acknowledged or not.
func (w *worker) repeat(ctx context.Context) bool {
	if len(w.requests) == 0 {
		return true
	}
	return w.requests[w.random.IntN(len(w.requests))].attempt(ctx, w.clients)
}

// requestID returns a UUID derived from the seed.
func (w *worker) requestID() string {
	if w.doesNotNameRequests {
		return ""
	}
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", w.random.Uint32(), w.random.Uint64()>>16)
}

// thread returns the list of comments on a thing. Comments on things of two kinds may have the same id.
func thread(thing history.Thing) history.List {
	return history.List{Kind: "comment on " + string(thing), Owner: string(thing)}
}

func (w *worker) comment(ctx context.Context) bool {
	text, id, author := w.next(), w.requestID(), w.user.id
	comments, kind := w.world.Comment, w.anyKind()
	on := w.world.shared[kind]
	return w.begin(ctx, request{list: thread(history.NameThing(kind, on.id)), value: text,
		send: func(ctx context.Context, c *clients) (int64, history.Span, bool) {
			r, span, ok := call(ctx, c, comments.AddComment,
				waybooktest.On(on.kind, on.id, &commentv1.AddCommentRequest{RequestId: id, AuthorId: author, Text: text}))
			return r.GetComment().GetCommentId(), span, ok
		}})
}

// anyKind returns the name of a kind of content.
func (w *worker) anyKind() string { return []string{"album", "blog", "poi"}[w.random.IntN(3)] }

func (w *worker) newLandmark(ctx context.Context) bool {
	name, id, owner, pois := w.next(), w.requestID(), w.user.id, w.world.Poi
	return w.begin(ctx, request{list: category, value: name,
		send: func(ctx context.Context, c *clients) (int64, history.Span, bool) {
			r, span, ok := call(ctx, c, pois.CreatePoi,
				&poiv1.CreatePoiRequest{RequestId: id, OwnerId: owner, Name: name, Category: 1, Location: place})
			return r.GetPoi().GetPoiId(), span, ok
		}})
}

func (w *worker) recommend(ctx context.Context) bool {
	return w.clients.recommend(ctx, w.world, w.anyKind(), w.world.voters[w.random.IntN(voters)])
}

// scoreOf names the tally of the recommendations of a thing.
func scoreOf(kind string) string { return "score of the " + kind }

// recommend lets a user recommend one of the shared things.
func (c *clients) recommend(ctx context.Context, w *world, kind string, voter int64) bool {
	on := w.shared[kind]
	_, _, isAcknowledged := call(ctx, c, w.Recommendation.Recommend, waybooktest.On(on.kind, on.id, &recommendationv1.RecommendRequest{UserId: voter}))
	c.history.Record(history.Mark{Tally: scoreOf(kind), Member: fmt.Sprint(voter), IsAcknowledged: isAcknowledged})
	return isAcknowledged
}

func (w *worker) vote(ctx context.Context) bool {
	return w.clients.vote(ctx, w.world, w.world.voters[w.random.IntN(voters)])
}

// choiceOf returns the choice of a voter, which never changes.
func choiceOf(voter int64) int32 { return int32(voter%choices) + 1 }

func votesFor(choice int32) string { return fmt.Sprint("votes for ", choice) }

func (c *clients) vote(ctx context.Context, w *world, voter int64) bool {
	choice := choiceOf(voter)
	_, _, isAcknowledged := call(ctx, c, w.Blog.CastBallot, &blogv1.CastBallotRequest{VoterId: voter, BlogId: w.shared["blog"].id, Choice: choice})
	c.history.Record(history.Mark{Tally: votesFor(choice), Member: fmt.Sprint(voter), IsAcknowledged: isAcknowledged})
	return isAcknowledged
}
