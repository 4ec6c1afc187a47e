package world

import (
	"fmt"
	"maps"
	"strconv"
	"time"
)

// act does what a client does.
func (w *world) act(u *user) {
	if len(w.model.contents) == 0 || w.random.IntN(12) == 0 {
		if k := kinds[w.random.IntN(len(kinds))]; k.add != "" && w.random.IntN(2) == 0 {
			w.add(u, k)
		} else {
			w.create(u, k)
		}
		return
	}
	// The first are hot.
	c := w.model.contents[w.random.IntN(1+w.random.IntN(len(w.model.contents)))]
	if c.owner.mayBeHidden() && c.id != 0 {
		w.actOnAbandoned(c, u)
		return
	}
	if c.requestID != "" && c.mayRepeat() && !c.owner.mayBeHidden() && (c.id == 0 || w.random.IntN(8) == 0) {
		w.repeat(c)
		return
	}
	if c.id == 0 {
		w.list(c.owner, c.kind)
		return
	}
	if c.owner.isGone {
		w.actOnAbandoned(c, u)
		return
	}
	switch w.random.IntN(16) {
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
	case 13:
		w.trespass(c, u)
	case 14, 15:
		w.uploadSomething(c)
	}
}

// send sends a form for a user.
func (w *world) send(as *user, parameters ...string) reply {
	p := w.anyProgram()
	return w.answered(p, as, p.send(w, as, parameters...), "%q", parameters)
}

// sendAbout sends a form about content.
func (w *world) sendAbout(c *item, as *user, function string, parameters ...string) reply {
	return w.send(as, append([]string{"func", function, c.kind.id, strconv.FormatInt(c.id, 10)}, parameters...)...)
}

// answered notes a reply, which is lost if its program has died. A client cannot trust a refusal while
// reads may show what is undone.
func (w *world) answered(p *program, as *user, r reply, format string, args ...any) reply {
	w.turns.wait(as.context())
	w.replies++
	if p.isGone() || w.mayUndo && !r.isDone {
		r = reply{}
	}
	what := as.name + ": " + fmt.Sprintf(format, args...)
	switch {
	case r.isDone:
		w.note("%s: done", what)
	case r.info != "":
		w.note("%s: %s", what, r.info)
	default:
		w.note("%s: no answer", what)
		if !w.mayFail {
			w.violated("no answer, although nothing fails")
		}
	}
	return r
}

func (w *world) unique(of string) string { return fmt.Sprintf("%s %d", of, w.tick()) }

// newItem returns content that a user begins to add.
func (w *world) newItem(owner *user, k *kind, title string) *item {
	c := &item{
		span: span{begun: w.tick()}, kind: k, owner: owner, first: title, titles: []string{title}, wasAdded: open, exists: open,
		recommended: map[*user]truth{}, ballots: [2]map[*user]truth{{}, {}},
	}
	w.model.contents = append(w.model.contents, c)
	return c
}

func (w *world) add(u *user, k *kind) {
	title := w.unique(k.name)
	c := w.newItem(u, k, title)
	op := begin(c, true)
	defer op.end()
	r := w.send(u, append([]string{"func", k.add, k.title, title}, k.added...)...)
	switch {
	case r.isDone:
		w.isAdded(c)
		w.named(c, r.body.text(k.id))
	case r.info != "":
		c.wasAdded, c.exists = no, no
	}
}

// isAdded notes that the addition of content was acknowledged.
func (w *world) isAdded(c *item) {
	c.wasAdded = yes
	if c.ended == 0 {
		c.ended = w.tick()
	}
	if c.removals == 0 {
		c.exists = yes
	}
}

// named notes the identifier of content that a reply shows.
func (w *world) named(c *item, id string) {
	c.id = w.number(id)
	w.means(c.kind.name, id, c.first)
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
func (w *world) isThere(op *op, r reply) bool {
	switch {
	case r.isDone:
		w.is(op, yes)
	case r.info == op.kind.notFound:
		w.is(op, no)
	case r.info != "":
		w.violated("%s %d: %s", op.kind.name, op.id, r.info)
	}
	return r.isDone
}

func (w *world) rename(c *item) {
	op := begin(c, true)
	defer op.end()
	title := w.unique("renamed")
	c.titles = append(c.titles, title)
	r := w.retitled(c, c.owner, title)
	if w.isThere(op, r) && op.isAlone() {
		c.titles = []string{title}
	}
}

func (w *world) remove(c *item) {
	c.removals++
	op := begin(c, true)
	defer op.end()
	if c.exists == yes {
		c.exists = open
	}
	if w.isThere(op, w.removed(c, c.owner)) {
		c.exists, c.removed = no, time.Now()
	}
}

// trespass lets a user change or remove what may belong to another.
func (w *world) trespass(c *item, u *user) {
	if u == c.owner {
		return
	}
	op := begin(c, true)
	defer op.end()
	r := reply{}
	switch n := w.random.IntN(4); {
	case n == 0 && c.kind.photo != "":
		r = w.sendAbout(c, u, "addPhoto", c.kind.photo, w.unique("taken"))
	case n == 1 && len(c.photos) > 0 && c.photos[0].id != "":
		r = w.sendAbout(c, u, "removePhoto", "photoID", c.photos[0].id)
	case n == 2:
		r = w.removed(c, u)
	default:
		r = w.retitled(c, u, w.unique("taken"))
	}
	if r.isDone {
		w.violated("%s changed %s %d of %s", u.name, c.kind.name, c.id, c.owner.name)
	} else if r.info != "NOT OWNER" && r.info != "PHOTO NOT FOUND" {
		w.isThere(op, r)
	}
}

// addPart adds a photo, or a comment.
func (w *world) addPart(c *item, by *user, isComment bool) {
	kind, function, parameter, id, parts := "photo", "addPhoto", c.kind.photo, "photoID", &c.photos
	if isComment || c.kind.photo == "" {
		kind, function, parameter, id, parts = "comment", "addComment", "comment", "commentID", &c.comments
	} else {
		by = c.owner
	}
	op := begin(c, true)
	defer op.end()
	p := &part{span: span{begun: w.tick()}, text: w.unique(kind), exists: open, by: by}
	*parts = append(*parts, p)
	r := w.sendAbout(c, by, function, parameter, p.text)
	w.isThere(op, r)
	switch {
	case r.isDone:
		p.ended, p.exists, p.id = w.tick(), yes, r.body.text(id)
		w.means(kind+" of "+c.kind.name, p.id, p.text)
	case r.info != "":
		p.exists = no
	}
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
		if p.request != "" && p.uploadedIn == w.turns.runs {
			continue // a removal frees the request (rule 14.2)
		}
		op := begin(c, true)
		defer op.end()
		was := p.exists
		if p.wasRemoved = true; was == yes {
			p.exists = open
		}
		r := w.sendAbout(c, c.owner, function, id, p.id)
		switch {
		case r.info == notFound:
			if was == yes && op.isAlone() {
				w.violated("%s %s of %s %d is lost", kind, p.id, c.kind.name, c.id)
			}
			c.goes(p)
		case w.isThere(op, r):
			if was == no {
				w.violated("%s %s of %s %d was back", kind, p.id, c.kind.name, c.id)
			}
			c.goes(p)
		}
		return
	}
}

// choose recommends, or withdraws that.
func (w *world) choose(c *item, u *user, function string, choice truth) {
	op := begin(c, true)
	defer op.end()
	was := c.recommended[u]
	c.recommended[u] = was.or(choice)
	r := w.sendAbout(c, u, function)
	c.recommended[u] = was.after(r, choice)
	if w.isThere(op, r) && op.isAlone() && !w.mayUndo {
		w.has(c, "recommendations", r.body.text("score"), maps.Values(c.recommended))
	}
}

func (w *world) vote(c *item, u *user, choice int) {
	if c.kind.name != "blog" {
		return
	}
	op := begin(c, true)
	defer op.end()
	mine, other := c.ballots[choice], c.ballots[1-choice]
	was := mine[u]
	mine[u] = was.or(yes)
	r := w.sendAbout(c, u, "castVote", "choice", strconv.Itoa(choice+1))
	if r.info == "ALREADY VOTED" {
		if other[u] == no {
			w.violated("%s has no ballot for choice %d of blog %d", u.name, 2-choice, c.id)
		}
		mine[u], other[u] = no, yes
		return
	}
	if mine[u] = was.after(r, yes); !w.isThere(op, r) {
		return
	}
	if other[u] == yes {
		w.violated("%s has two ballots in blog %d", u.name, c.id)
	}
	if other[u] = no; op.isAlone() && !w.mayUndo {
		w.hasBallots(c, r)
	}
}
