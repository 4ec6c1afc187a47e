package world

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// act does what a client does.
func (w *world) act() {
	u := w.users[w.random.IntN(len(w.users))]
	if len(w.model.contents) == 0 || w.random.IntN(12) == 0 {
		w.add(u, kinds[w.random.IntN(len(kinds))])
		return
	}
	// The first are hot.
	c := w.model.contents[w.random.IntN(1+w.random.IntN(len(w.model.contents)))]
	if c.id == 0 {
		w.list(c.owner, c.kind)
		return
	}
	switch w.random.IntN(13) {
	case 0, 1:
		w.read(c)
	case 2:
		w.list(c.owner, c.kind)
	case 3:
		w.rename(c)
	case 4:
		w.remove(c)
	case 5, 6:
		w.addPart(c, u, w.random.IntN(2) == 0)
	case 7:
		w.addPart(c, c.owner, false)
	case 8:
		w.removePart(c, "photo", c.photos)
	case 9:
		w.removePart(c, "comment", c.comments)
	case 10:
		w.choose(c, u, "recommend", yes)
	case 11:
		w.choose(c, u, "withdrawRecommendation", no)
	case 12:
		w.vote(c, u, w.random.IntN(2))
	}
}

// send sends a form for a user.
func (w *world) send(as *user, parameters ...string) reply {
	r := w.running.send(w.t, as, parameters...)
	if r.info == "INTERNAL ERROR" {
		r.info = ""
	}
	return w.answered(r, "%s: %q", as.name, parameters)
}

// sendAbout sends a form about content.
func (w *world) sendAbout(c *item, as *user, function string, parameters ...string) reply {
	return w.send(as, append([]string{"func", function, c.kind.id, strconv.FormatInt(c.id, 10)}, parameters...)...)
}

// answered notes a reply, which is lost if its process was killed meanwhile.
func (w *world) answered(r reply, format string, args ...any) reply {
	if w.disk.IsKilled() || w.isFailing && !r.isDone {
		r = reply{}
	}
	what := fmt.Sprintf(format, args...)
	switch {
	case r.isDone:
		w.note("%s: done", what)
	case r.info != "":
		w.note("%s: %s", what, r.info)
	default:
		w.note("%s: no answer", what)
		if !w.isDying {
			w.violated("no answer, although nobody kills")
		}
	}
	return r
}

func (w *world) unique(of string) string { return fmt.Sprintf("%s %d", of, len(w.history)) }

func (w *world) add(u *user, k *kind) {
	title := w.unique(k.name)
	r := w.send(u, append([]string{"func", k.add, k.title, title}, k.added...)...)
	c := &item{
		kind: k, owner: u, titles: []string{title}, wasAdded: no.after(r, yes), recommended: map[*user]truth{},
		ballots: [2]map[*user]truth{{}, {}},
	}
	if c.exists = c.wasAdded; c.exists == yes {
		c.id = w.number(r.body.text(k.id))
		w.means(k.name, r.body.text(k.id), title)
	}
	w.model.contents = append(w.model.contents, c)
}

func (w *world) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		w.violated("%v", err)
	}
	return n
}

// isThere compares whether content exists with a reply about it. It returns false if the reply says no
// more of it.
func (w *world) isThere(c *item, r reply) bool {
	switch {
	case r.isDone:
		w.is(c, yes)
	case r.info == c.kind.notFound:
		w.is(c, no)
	case r.info != "":
		w.violated("%s %d: %s", c.kind.name, c.id, r.info)
	}
	return r.isDone
}

func (w *world) read(c *item) {
	r := w.sendAbout(c, c.owner, c.kind.get, "withIDs", "true")
	if w.isFailing || !w.isThere(c, r) {
		return
	}
	w.hasTitle(c, r.body.text(c.kind.title))
	w.has(c, "recommendations", r.body.text("score"), maps.Values(c.recommended))
	if c.kind.name == "blog" {
		w.hasBallots(c, r)
	} else {
		w.hasParts(c, "photo", c.photos, texts(r.body.find("photos", "*", "thumbnail")), texts(r.body.find("photos", "*", "photoID")))
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

func (w *world) list(u *user, k *kind) {
	r := w.send(u, "func", k.list, "userID", strconv.FormatInt(u.id, 10))
	if w.isFailing || !r.isDone {
		return
	}
	ids, titles := texts(r.body.find(k.items, "*", k.id)), texts(r.body.find(k.items, "*", k.title))
	next := 0
	for _, c := range w.model.contents {
		if c.owner != u || c.kind != k {
			continue
		}
		if next == len(ids) || !(c.id != 0 && w.number(ids[next]) == c.id || c.id == 0 && titles[next] == c.titles[0]) {
			w.is(c, no)
			continue
		}
		w.is(c, yes)
		if c.id == 0 {
			c.id = w.number(ids[next])
			w.means(k.name, ids[next], c.titles[0])
		}
		w.hasTitle(c, titles[next])
		next++
	}
	if next < len(ids) {
		w.violated("the list of %s shows %s %q, which was never added, or in another place", u.name, k.name, titles[next])
	}
}

func (w *world) rename(c *item) {
	title := w.unique("renamed")
	r := w.sendAbout(c, c.owner, c.kind.update, append([]string{c.kind.title, title}, c.kind.updated...)...)
	if w.isThere(c, r) {
		c.titles = []string{title}
	} else if r.info == "" {
		c.titles = append(c.titles, title)
	}
}

func (w *world) remove(c *item) {
	if w.isThere(c, w.removed(c)) {
		c.exists = no
	} else if c.exists == yes {
		c.exists = open
	}
}

// addPart adds a photo, or a comment.
func (w *world) addPart(c *item, by *user, isComment bool) {
	kind, function, parameter, id, parts := "photo", "addPhoto", "thumbnail", "photoID", &c.photos
	if isComment || c.kind.name == "blog" {
		kind, function, parameter, id, parts = "comment", "addComment", "comment", "commentID", &c.comments
	} else {
		by = c.owner
	}
	p := &part{text: w.unique(kind)}
	r := w.sendAbout(c, by, function, parameter, p.text)
	w.isThere(c, r)
	if p.exists = no.after(r, yes); p.exists == yes {
		p.id = r.body.text(id)
		w.means(kind+" of "+c.kind.name, p.id, p.text)
	}
	*parts = append(*parts, p)
}

func (w *world) removePart(c *item, kind string, parts []*part) {
	function, id, notFound := "removePhoto", "photoID", "PHOTO NOT FOUND"
	if kind == "comment" {
		function, id, notFound = "removeComment", "commentID", "COMMENT NOT FOUND"
	}
	for _, p := range parts {
		if p.id == "" || p.exists == no && w.random.IntN(4) > 0 {
			continue
		}
		r := w.sendAbout(c, c.owner, function, id, p.id)
		if r.info == notFound {
			if p.exists == yes {
				w.violated("%s %s of %s %d is lost", kind, p.id, c.kind.name, c.id)
			}
			p.exists = no
			return
		}
		if w.isThere(c, r) && p.exists == no {
			w.violated("%s %s of %s %d was back", kind, p.id, c.kind.name, c.id)
		}
		p.exists = p.exists.after(r, no)
		return
	}
}

// choose recommends, or withdraws that.
func (w *world) choose(c *item, u *user, function string, choice truth) {
	r := w.sendAbout(c, u, function)
	there := w.isThere(c, r)
	if c.recommended[u] = c.recommended[u].after(r, choice); there {
		w.has(c, "recommendations", r.body.text("score"), maps.Values(c.recommended))
	}
}

func (w *world) vote(c *item, u *user, choice int) {
	if c.kind.name != "blog" {
		return
	}
	r := w.sendAbout(c, u, "castVote", "choice", strconv.Itoa(choice+1))
	mine, other := c.ballots[choice], c.ballots[1-choice]
	if r.info == "ALREADY VOTED" {
		if other[u] == no {
			w.violated("%s has no ballot for choice %d of blog %d", u.name, 2-choice, c.id)
		}
		mine[u], other[u] = no, yes
		return
	}
	there := w.isThere(c, r)
	if there && other[u] == yes {
		w.violated("%s has two ballots in blog %d", u.name, c.id)
	}
	if mine[u] = mine[u].after(r, yes); there {
		other[u] = no
		w.hasBallots(c, r)
	}
}

// hasRewards compares the rewards of a user: each blog that was ever posted has one.
func (w *world) hasRewards(u *user) {
	total, err := w.running.account.GetRewardTotal(context.Background(), &accountv1.GetRewardTotalRequest{UserId: u.id})
	if err != nil {
		w.violated("the rewards of %s: %v", u.name, err)
		return
	}
	least, most := count(func(yield func(truth) bool) {
		for _, c := range w.model.contents {
			if c.owner == u && c.kind.name == "blog" && !yield(c.wasAdded) {
				return
			}
		}
	})
	if total.GetTotal() < int64(least*reward) || total.GetTotal() > int64(most*reward) {
		w.violated("%s has rewards of %d for at least %d and at most %d blogs", u.name, total.GetTotal(), least, most)
	}
}

// readAll reads everything that clients know of.
func (w *world) readAll() {
	for _, u := range w.users {
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
