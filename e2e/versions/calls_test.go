package versions

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// call makes a random call to a program and records what it acknowledges. It returns what it did.
func (w *worker) call(ctx context.Context, p *program, running []*program) (what string, err error) {
	w.calls++
	d := w.shared[w.random.IntN(len(w.shared))]
	switch n := w.random.IntN(100); {
	case n < 45 && len(w.unheard) > 0:
		return "choose", w.choose(ctx, p)
	case n < 50:
		return "withdraw", w.withdrawOne(ctx, p)
	case n < 60:
		return "comment", w.comment(ctx, p, d)
	case n < 66:
		return "add a photo", w.photo(ctx, p, d)
	case n < 72:
		return "remove an attachment", w.removeOwn(ctx, p)
	case n < 84:
		return "rename", w.rename(ctx, p)
	case n < 90:
		return "create", w.create(ctx, p)
	case n < 94:
		return "delete", w.delete(ctx, p, running)
	case n < 96:
		return "post a form", w.post(ctx, p, running)
	default:
		return "keep", w.sweep(ctx, running)
	}
}

// text returns a text that no other call has.
func (w *worker) text() string { return fmt.Sprintf("%d/%d", w.number, w.calls) }

// record changes the record of the world.
func (w *world) record(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *worker) choose(ctx context.Context, p *program) error {
	next := w.unheard[0]
	w.unheard = w.unheard[1:]
	if next.isBallot {
		choice := 1 + w.random.Int32N(choiceCount)
		if err := next.document.vote(ctx, p, next.user, next.document.id, choice); err != nil {
			return err
		}
		w.record(func() { next.document.ballots[next.user] = choice })
		return nil
	}
	if err := next.document.recommend(ctx, p, next.user, next.document.id); err != nil {
		return err
	}
	w.said = append(w.said, next)
	w.record(func() { next.document.recommended[next.user] = true })
	return nil
}

// withdrawOne withdraws a recommendation.
func (w *worker) withdrawOne(ctx context.Context, p *program) error {
	if len(w.said) == 0 {
		return nil
	}
	last := w.said[len(w.said)-1]
	w.said = w.said[:len(w.said)-1]
	if err := last.document.withdraw(ctx, p, last.user, last.document.id); err != nil {
		return err
	}
	w.record(func() { delete(last.document.recommended, last.user) })
	return nil
}

func (w *worker) comment(ctx context.Context, p *program, d *document) error {
	author, text := w.users[w.random.IntN(len(w.users))], w.text()
	id, err := d.comment(ctx, p, author, d.id, text)
	if err != nil {
		return err
	}
	w.own = append(w.own, attachment{d, id, author, false})
	w.record(func() { d.comments[id] = text })
	return nil
}

func (w *worker) photo(ctx context.Context, p *program, d *document) error {
	if d.hasNoPhotos {
		return nil
	}
	text := w.text()
	id, err := d.photo(ctx, p, d.owner, d.id, text)
	if err != nil {
		return err
	}
	w.own = append(w.own, attachment{d, id, d.owner, true})
	w.record(func() { d.photos[id] = text })
	return nil
}

func (w *worker) removeOwn(ctx context.Context, p *program) error {
	if len(w.own) == 0 {
		return nil
	}
	i := w.random.IntN(len(w.own))
	a := w.own[i]
	w.own[i] = w.own[len(w.own)-1]
	w.own = w.own[:len(w.own)-1]
	if a.isPhoto {
		if err := a.document.unphoto(ctx, p, a.user, a.document.id, a.id); err != nil {
			return err
		}
		w.record(func() { delete(a.document.photos, a.id) })
		return nil
	}
	if err := a.document.uncomment(ctx, p, a.user, a.document.id, a.id); err != nil {
		return err
	}
	w.record(func() { delete(a.document.comments, a.id) })
	return nil
}

// rename renames the worker's shared document, while the others count on it. Nobody else renames it, so
// the last title is known.
func (w *worker) rename(ctx context.Context, p *program) error {
	if w.number >= len(w.shared) {
		return nil
	}
	d, title := w.shared[w.number], w.text()
	if err := d.rename(ctx, p, d.owner, d.id, title); err != nil {
		return err
	}
	w.record(func() { d.title = title })
	return nil
}

// create creates a document of the worker's own.
func (w *worker) create(ctx context.Context, p *program) error {
	kind, owner, title := w.shared[w.random.IntN(len(w.shared))].kind, w.users[0], w.text()
	id, err := kind.create(ctx, p, owner, title)
	if err != nil {
		return err
	}
	d := newDocument(kind, id, owner, title)
	w.record(func() { w.others = append(w.others, d) })
	return nil
}

// delete creates a document through one program, attaches something through each one, and deletes it
// through another.
func (w *worker) delete(ctx context.Context, p *program, running []*program) error {
	kind, owner, title := w.shared[w.random.IntN(len(w.shared))].kind, w.users[0], w.text()
	id, err := kind.create(ctx, p, owner, title)
	if err != nil {
		return err
	}
	for i, each := range running {
		if _, err := kind.comment(ctx, each, owner, id, title); err != nil {
			return err
		}
		if err := kind.recommend(ctx, each, w.users[i], id); err != nil {
			return err
		}
	}
	if err := kind.remove(ctx, running[w.random.IntN(len(running))], owner, id); err != nil {
		return err
	}
	d := newDocument(kind, id, owner, title)
	d.isDeleted = true
	w.record(func() { w.others = append(w.others, d) })
	return nil
}

// post creates an album by a form, with a session that another program may have opened.
func (w *worker) post(ctx context.Context, p *program, running []*program) error {
	owner, title := w.users[0], w.text()
	opened, err := running[w.random.IntN(len(running))].Account.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: owner})
	if err != nil {
		return err
	}
	client := waybooktest.OnceAt(w.t, p.HTTP).With(owner, opened.GetToken())
	client.Context = ctx
	reply, err := client.Try(client.Form(http.MethodPost, "func=addAlbum&category=1&lat=25&lng=121&albumTitle="+title))
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(reply.Text("albumID"), 10, 64)
	if err != nil {
		return fmt.Errorf("the reply is %s", reply.Body)
	}
	d := newDocument(w.shared[0].kind, id, owner, title)
	w.record(func() { w.others = append(w.others, d) })
	return nil
}

// sweep does what a program of the present version does once a minute.
func (w *worker) sweep(ctx context.Context, running []*program) error {
	if !slices.ContainsFunc(running, func(p *program) bool { return !p.isOlder }) {
		return nil
	}
	return w.keep.sweep(ctx)
}
