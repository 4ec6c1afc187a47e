package world

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

// hidingTime is how long it may take until all know that a user is hidden, or is not any more (rule 4.23).
const hidingTime = 30 * time.Second

// mayBeHidden reports whether what a user owns and wrote may be left out of replies.
func (u *user) mayBeHidden() bool { return u != nil && u.isHidden }

// mustBeHidden reports whether it must be.
func (u *user) mustBeHidden() bool {
	return u.mayBeHidden() && !u.hiddenFrom.IsZero() && !time.Now().Before(u.hiddenFrom)
}

// hideSomeone hides a user, and enables the user again. Meanwhile the others act. Nothing fails.
func (w *world) hideSomeone() {
	if w.system.calm(); w.mayUndo {
		w.settle()
	}
	u := w.users[w.random.IntN(len(w.users))]
	others := slices.DeleteFunc(slices.Clone(w.users), func(other *user) bool { return other == u })
	w.actTogether(others) // so that programs know the hidden users as they were
	u.isHidden = true
	w.update(u, "is hidden", &accountv1.UpdateUserRequest{UserId: u.id, Hidden: new(true)})
	w.model.closed = append(w.model.closed, session{*u, time.Now()})
	u.hiddenFrom = time.Now().Add(hidingTime)
	for range w.random.IntN(4) {
		time.Sleep(w.upTo(hidingTime / 2))
		w.actTogether(others)
		w.follow(kinds[w.random.IntN(len(kinds))])
	}
	switch w.random.IntN(4) {
	case 0:
		w.system.restart()
	case 1:
		w.pass(w.upTo(3 * time.Hour))
	}
	time.Sleep(time.Until(u.hiddenFrom))
	w.readEverywhere(u)
	w.actTogether(others)
	u.hiddenFrom = time.Time{}
	w.update(u, "is enabled", &accountv1.UpdateUserRequest{UserId: u.id, Disabled: new(false)})
	w.actTogether(others)
	time.Sleep(hidingTime)
	u.isHidden = false
	w.must(w.anyProgram().logIn(u))
	w.readEverywhere(u)
	w.readAgain(u)
}

func (w *world) update(u *user, what string, request *accountv1.UpdateUserRequest) {
	p := w.anyProgram()
	_, err := p.Account.UpdateUser(context.Background(), request)
	w.must(err)
	w.answered(p, u, reply{isDone: err == nil}, "%s", what)
}

func (w *world) actTogether(users []*user) {
	var all []func()
	for _, u := range users {
		all = append(all, func() { w.act(u) })
	}
	w.turns.run(w.random, all)
}

// readEverywhere reads everything from each program, and what is a user's also by gRPC.
func (w *world) readEverywhere(u *user) {
	all := w.programs
	for n, p := range all {
		w.programs = all[n : n+1]
		w.readAll()
		for _, c := range w.model.contents {
			if c.id == 0 || c.exists != yes {
				continue
			}
			if c.owner == u {
				w.isSeen(p, u, c)
			} else if !c.owner.isGone {
				w.hasComments(p, c)
			}
		}
	}
	w.programs = all
}

// isSeen expects that content and its files are found, unless their owner is hidden.
func (w *world) isSeen(p *program, u *user, c *item) {
	found, err := c.kind.read(p, []int64{c.id})
	if w.must(err); (len(found) == 0) != u.mustBeHidden() {
		w.violated("%s %d of %s, hidden: %t, is found by gRPC: %v", c.kind.name, c.id, u.name, u.mustBeHidden(), found)
	}
	for _, photo := range c.photos {
		if photo.request == "" || photo.exists != yes {
			continue
		}
		path := fmt.Sprintf("/upload/%s/%d/%s-view.jpg", c.kind.files, c.id, photo.id)
		status, _ := p.get(u, path)
		if want := map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[u.mustBeHidden()]; status != want {
			w.violated("%s of %s, hidden: %t, has status %d", path, u.name, u.mustBeHidden(), status)
		}
	}
}

// hasComments compares a list of comments with those that are not hidden.
func (w *world) hasComments(p *program, c *item) {
	request := waybooktest.On(c.kind.number, c.id, &commentv1.ListCommentsRequest{PageSize: 1000})
	page, err := p.Comment.ListComments(context.Background(), request)
	w.must(err)
	var texts, ids []string
	for _, each := range page.GetComments() {
		texts, ids = append(texts, each.GetText()), append(ids, fmt.Sprint(w.shown(each.GetCommentId())))
	}
	w.hasParts(c, "comment", c.comments, texts, ids)
}

// readAgain lets the followers read what a user owns, as those do that learn of a change of a user.
func (w *world) readAgain(u *user) {
	for _, k := range kinds {
		var ids []int64
		for _, c := range w.model.contents {
			if c.kind == k && c.owner == u && c.id != 0 {
				ids = append(ids, c.id)
			}
		}
		if f := w.followers[k]; f.titles != nil && len(ids) > 0 {
			titles, err := k.read(w.anyProgram(), ids)
			w.must(err)
			for id, title := range titles {
				f.titles[w.shown(id)] = title
			}
		}
	}
}
