package world

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/waybook/waybook/internal/waybooktest"
)

func (w *world) read(c *item) {
	op := begin(c, false)
	defer op.end()
	r := w.sendAbout(c, c.owner, c.kind.get, "withIDs", "true")
	if w.mayUndo || !w.isThere(op, r) || !op.isAlone() {
		return
	}
	w.hasTitle(c, r.body.text(c.kind.title))
	w.has(c, "recommendations", r.body.text("score"), maps.Values(c.recommended))
	if c.kind.photo == "" {
		w.hasBallots(c, r)
	} else {
		w.hasParts(c, "photo", c.photos, photoTexts(c, r), texts(r.body.find("photos", "*", "photoID")))
	}
	w.hasParts(c, "comment", c.comments, texts(r.body.find("comments", "*", "comment")), texts(r.body.find("comments", "*", "commentID")))
}

func (w *world) hasBallots(c *item, r reply) {
	votes := texts(r.body.find("vote", "choices", "*", "votes"))
	if len(votes) != len(c.ballots) {
		w.violated("%d choices", len(votes))
		return
	}
	for choice, number := range votes {
		w.has(c, fmt.Sprintf("votes for choice %d", choice+1), number, maps.Values(c.ballots[choice]))
	}
}

func texts(elements []element) []string {
	var all []string
	for _, e := range elements {
		all = append(all, e.Text)
	}
	return all
}

// photoTexts returns the texts of the photos of content: the descriptions of those that were uploaded, and the
// addresses of others.
func photoTexts(c *item, r reply) (all []string) {
	for _, photo := range r.body.find("photos", "*") {
		all = append(all, cmp.Or(photo.text("description"), photo.text(c.kind.photo)))
	}
	return all
}

func (w *world) list(u *user, k *kind) {
	ops := map[*item]*op{}
	for _, c := range w.model.of(u, k) {
		ops[c] = begin(c, false)
		defer ops[c].end()
	}
	r := w.send(u, "func", k.list, "userID", strconv.FormatInt(u.id, 10), "category", strconv.Itoa(int(category)))
	if w.mayUndo || !r.isDone {
		return
	}
	if u.mustBeHidden() && !k.isShared {
		w.violated("each %s of %s, who is hidden, is listed", k.name, u.name)
	}
	ids, titles := texts(r.body.find(k.items, "*", k.id)), texts(r.body.find(k.items, "*", k.title))
	place := func(c *item) int {
		if !w.isNamed(c) {
			return slices.IndexFunc(titles, func(title string) bool { return slices.Contains(c.titles, title) })
		}
		return slices.Index(ids, strconv.FormatInt(c.id, 10))
	}
	next := 0
	for _, c := range arranged(w.model.of(u, k), place, w.isOneClock && (w.isSmall || !k.isShared)) {
		op := ops[c]
		if op == nil {
			op = begin(c, false) // it was added meanwhile
			op.existed, op.isOverlapped = open, true
		}
		if next == len(ids) || place(c) != next {
			w.is(op, no)
			continue
		}
		w.is(op, yes)
		if !w.isNamed(c) {
			w.named(c, ids[next])
		}
		if op.isAlone() {
			w.hasTitle(c, titles[next])
		}
		next++
	}
	if next < len(ids) {
		w.violated("the list of %s shows %s %q, which was never added, or in another place", u.name, k.name, titles[next])
	}
}

// hasRewards compares the rewards of a user: each blog that was ever posted has one.
func (w *world) hasRewards(u *user) {
	rewards, err := waybooktest.RewardsOf(context.Background(), w.anyProgram().Account, u.id)
	if err != nil {
		w.violated("the rewards of %s: %v", u.name, err)
		return
	}
	least, most := count(func(yield func(truth) bool) {
		for _, c := range w.model.of(u, kinds[1]) {
			if !yield(c.wasAdded) {
				return
			}
		}
	})
	if rewards.Total < int64(least*reward) || rewards.Total > int64(most*reward) {
		w.violated("%s has rewards of %d for at least %d and at most %d blogs", u.name, rewards.Total, least, most)
	}
}

// hasRecommenders compares the number of recommendations with the list of those who gave them, at rest.
func (w *world) hasRecommenders(c *item) {
	if c.exists != yes {
		return
	}
	score := w.sendAbout(c, c.owner, c.kind.get).body.text("score")
	listed, err := c.recommenders(w.anyProgram(), c.id)
	if w.must(err); strconv.Itoa(listed) != score {
		w.violated("%s %d has %s recommendations, and %d users are listed", c.kind.name, c.id, score, listed)
	}
}

// readAll reads everything that clients know of.
func (w *world) readAll() {
	for _, u := range slices.Concat(w.users, w.model.gone) {
		for _, k := range kinds {
			w.list(u, k)
		}
	}
	for _, c := range w.model.contents {
		if c.id != 0 {
			w.read(c)
		}
	}
}
