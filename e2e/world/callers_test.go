package world

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// create adds content by gRPC. The caller repeats the request until it has an answer.
func (w *world) create(u *user, k *kind) {
	title := w.unique(k.name)
	c := w.newItem(u, k, title)
	c.requestID = fmt.Sprintf("00000000-0000-4000-8000-%012d", c.begun)
	w.repeat(c)
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
	id, err := c.create(c.owner.context(), p, c.owner, c.first, c.requestID)
	r := reply{isDone: err == nil}
	if status.Code(err) == codes.NotFound {
		r.info = "GONE"
	}
	r = w.answered(p, c.owner, r, "creates %s %q by gRPC", c.kind.name, c.first)
	if r.info != "" && c.removals == 0 {
		w.violated("create %q: %v", c.first, err)
	}
	if r.isDone {
		w.isAdded(c)
		w.named(c, fmt.Sprint(id))
	}
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
	_, err := p.account.CloseSession(context.Background(), &accountv1.CloseSessionRequest{UserId: former.id, Token: former.token})
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
