package world

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// create adds content by gRPC. The caller repeats the request until it has an answer.
func (w *world) create(u *user, k *kind) { w.repeat(w.newRequest(u, k)) }

// newRequest returns content that a request creates, which has not been sent.
func (w *world) newRequest(u *user, k *kind) *item {
	c := w.newItem(u, k, w.unique(k.name))
	c.requestID = fmt.Sprintf("00000000-0000-4000-8000-%012d", c.begun)
	c.isExtended = w.hasVersions && w.random.IntN(2) == 0
	return c
}

// repeat sends the request that created content, or may have.
func (w *world) repeat(c *item) {
	c.wasAdded = c.wasAdded.or(yes)
	if c.removals == 0 {
		c.exists = c.exists.or(yes)
	}
	op := begin(c, true)
	defer op.end()
	p := w.anyProgram()
	ctx := c.owner.context()
	if c.isExtended {
		ctx = context.WithValue(ctx, extendedKey{}, true)
	}
	id, err := c.create(ctx, p, c.owner, c.first, c.requestID)
	r := reply{isDone: err == nil}
	if status.Code(err) == codes.NotFound {
		r.info = "GONE"
	}
	r = w.answered(p, c.owner, r, "creates %s %q by gRPC", c.kind.name, c.first)
	if r.info != "" && c.removals == 0 {
		w.violated("create %q: %v", c.first, err)
	}
	if r.isDone {
		if op.existed == no && !w.mayUndo {
			w.violated("a repeated request creates %q again, which was removed", c.first)
		}
		w.isAdded(c)
		w.named(c, fmt.Sprint(w.shown(id)))
	}
}

// createTogether sends the request that creates content several times at once, as a client does that gets no
// answer soon.
func (w *world) createTogether() {
	u, k := w.users[w.random.IntN(len(w.users))], kinds[w.random.IntN(len(kinds))]
	made := w.newRequest(u, k)
	send := func() { w.repeat(made) }
	w.turns.run(w.random, []func(){send, send, send})
}

// session is a session of a user that was closed, and when.
type session struct {
	user
	closed time.Time
}

// longestUse is how long a closed session may be accepted, as docs/reliability.md says.
const longestUse = time.Second

// changeSession opens a session for a user and closes the one before.
func (w *world) changeSession(u *user) {
	former := *u
	p := w.anyProgram()
	if err := p.logIn(u); err != nil {
		if !w.mayFail {
			w.violated("open a session: %v", err)
		}
		return
	}
	_, err := p.Account.CloseSession(context.Background(), &accountv1.CloseSessionRequest{UserId: former.id, Token: former.token})
	if r := w.answered(p, u, reply{isDone: err == nil}, "has another session"); r.isDone {
		w.model.closed = append(w.model.closed, session{former, time.Now()})
	}
}

// useClosedSession uses a session that was closed.
func (w *world) useClosedSession() {
	for _, s := range w.model.closed {
		if w.isBlind || time.Since(s.closed) < longestUse || w.random.IntN(2) == 0 {
			continue
		}
		r := w.send(&s.user, "func", "updateAlbum", "delete", "true", "albumID", "1")
		if r.isDone || r.info != "" && r.info != "LOGIN REQUIRED" {
			w.violated("a session of %s is accepted, which was closed: %q", s.name, r.info)
		}
	}
}

// comeAndGo lets a user come, choose something, and be deleted while a blog of the user is posted.
func (w *world) comeAndGo() {
	u := &user{number: len(w.users) + len(w.model.gone), name: w.unique("visitor"), isGone: true}
	p := w.anyProgram()
	made, err := p.Account.CreateUser(context.Background(), &accountv1.CreateUserRequest{Name: u.name})
	if err != nil || p.isGone() {
		w.mustUnlessTroubled(err)
		return
	}
	u.id = made.GetUser().GetUserId()
	w.means("user", fmt.Sprint(u.id), u.name)
	if err := p.logIn(u); err != nil {
		w.mustUnlessTroubled(err)
		return
	}
	w.note("%s comes", u.name)
	for _, c := range w.model.contents {
		if c.id != 0 {
			w.turns.run(w.random, []func(){func() { w.choose(c, u, "recommend", yes) }})
			break
		}
	}
	w.model.gone = append(w.model.gone, u)
	w.turns.run(w.random, []func(){func() { w.add(u, kinds[1]) }, func() { w.delete(u) }})
}

// delete deletes a user, who may be gone already.
func (w *world) delete(u *user) {
	p := w.anyProgram()
	_, err := p.Account.UpdateUser(u.context(), &accountv1.UpdateUserRequest{UserId: u.id, Disabled: new(true)})
	if err == nil || status.Code(err) == codes.NotFound {
		_, err = p.Account.DeleteUser(u.context(), &accountv1.DeleteUserRequest{UserId: u.id})
	}
	if r := w.answered(p, u, reply{isDone: err == nil}, "is deleted"); r.isDone {
		w.model.closed = append(w.model.closed, session{*u, time.Now()})
	}
}

// hasNothing expects that nothing is left of the rewards of users who were deleted.
func (w *world) hasNothing() {
	p, ctx := w.anyProgram(), context.Background()
	rewards, err := docstore.Open[string, struct {
		ID string `bson:"_id"`
	}](ctx, p.store, docstore.Spec{Name: "rewards", ID: docstore.String, Sharding: docstore.ByID})
	w.must(err)
	for batch, err := range rewards.Batches(ctx, docstore.Query{Where: docstore.All(docstore.IDIndex).Everywhere(), Limit: 100}) {
		w.must(err)
		for _, each := range batch {
			owner, _, _ := strings.Cut(each.ID, "/")
			for _, u := range w.model.gone {
				if owner != fmt.Sprint(u.id) {
					continue
				}
				_, err := p.Account.GetUser(ctx, &accountv1.GetUserRequest{UserId: u.id})
				if status.Code(err) == codes.NotFound {
					w.violated("%s is deleted and has the reward %s", u.name, each.ID)
				}
			}
		}
	}
}

func (w *world) mustUnlessTroubled(err error) {
	if !w.mayFail {
		w.must(err)
	}
}

// actOnAbandoned does what a client can do with content whose owner is gone, or hidden.
func (w *world) actOnAbandoned(c *item, u *user) {
	switch w.random.IntN(6) {
	case 0:
		w.read(c)
	case 1:
		w.list(c.owner, c.kind)
	case 2:
		w.addPart(c, u, true)
	case 3:
		w.choose(c, u, "recommend", yes)
	case 4:
		w.vote(c, u, w.random.IntN(2))
	case 5:
		w.trespass(c, u)
	}
}
