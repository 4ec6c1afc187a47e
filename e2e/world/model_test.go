package world

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/platform/smallids"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// truth is what the clients know of a fact.
type truth int

const (
	no truth = iota
	yes
	// open: an operation got no answer, so it has happened or not.
	open
)

// or returns what is known while an operation is going on that makes the fact so, or not so.
func (t truth) or(becomes truth) truth {
	if t == becomes {
		return t
	}
	return open
}

// after returns what is known after the operation.
func (t truth) after(r reply, becomes truth) truth {
	switch {
	case r.isDone:
		return becomes
	case r.info == "":
		return t.or(becomes)
	}
	return t
}

// count returns how many facts are so, at least and at most.
func count(facts iter.Seq[truth]) (least, most int) {
	for fact := range facts {
		if fact != no {
			most++
		}
		if fact == yes {
			least++
		}
	}
	return least, most
}

// model is what the clients were promised.
type model struct {
	// contents are in the order of their creation.
	contents []*item
	// meant is what each identifier that a client has seen means, for ever: also after an old file is back.
	meant map[string]string
	// closed are sessions that were closed.
	closed []session
	// gone are users who were deleted, or may have been.
	gone []*user
	// later has the fields that a later version has written.
	later *laterFields
}

// of returns the contents of a kind that a list for a user has.
func (m model) of(owner *user, k *kind) (all []*item) {
	for _, c := range m.contents {
		if c.kind == k && (k.isShared || c.owner == owner) {
			all = append(all, c)
		}
	}
	return all
}

// item is what the clients know of an album or a blog.
type item struct {
	span
	*kind
	owner *user
	// id is 0 as long as no reply has named it, or what moves in has in the old service.
	id int64
	// requestID is that of the request that created it by gRPC; empty if a form did.
	requestID string
	// isExtended: that request has a field of a later version.
	isExtended bool
	// records are what moved it in; nil if nothing did.
	records []*moveinv1.Record
	// moving is how many moves are going on. isMoveBroken: the last one got no answer, so it has to be repeated.
	moving       int
	isMoveBroken bool
	// wasAdded says whether it ever was, and exists whether it is still there.
	wasAdded, exists truth
	// first is the title with which it was added. titles has the present one, and those of later updates
	// that may have happened.
	first  string
	titles []string
	// photos and comments are in the order of their addition.
	photos, comments []*part
	// recommended says of each user whether the recommendation is given, and ballots whether one for the
	// first or the second choice is.
	recommended map[*user]truth
	ballots     [2]map[*user]truth
	// changing is how many changes are going on, changes how many have begun, and removals how many of
	// these remove it.
	changing, changes, removals int
	// removed is when a removal was last acknowledged.
	removed time.Time
}

// longestRepeat is how long after a removal a request is repeated: deletions are known for seven days.
const longestRepeat = 6 * 24 * time.Hour

// mayRepeat reports whether the client repeats the request that created content.
func (c *item) mayRepeat() bool {
	return c.removals == 0 || c.exists == no && c.changing == 0 && time.Since(c.removed) < longestRepeat
}

// part is a photo or a comment. Its text is unlike that of any other.
type part struct {
	span
	text   string
	id     string
	exists truth
	// isMoved: a record brings it.
	isMoved bool
	// by is who wrote a comment.
	by *user
	// request is the identifier of the request that uploaded it; empty if none did. wasRemoved: a client has removed it
	// since, or its content.
	request    string
	wasRemoved bool
	// uploadedIn is the run of turns in which the request was last sent. Its program may be at it until the end of the run.
	uploadedIn int
}

// goes notes that a part is not there. If a move or an upload is not finished, it may be in a moment.
func (c *item) goes(p *part) {
	p.exists = no
	if p.isMoved && (c.moving > 0 || c.isMoveBroken) || p.isOpen() {
		p.exists = open
	}
}

// span is the time of an addition, in ticks of the world. It has not ended if no reply said so.
type span struct{ begun, ended int }

func (s span) when() span { return s }

func (s span) isBefore(other span) bool { return s.ended != 0 && s.ended < other.begun }

func (w *world) tick() int {
	w.ticks++
	return w.ticks
}

// arranged returns what was added in the order of their places in a reply, which are below 0 if it lacks
// them. If additions are in order, only those change places that were going on at the same time.
func arranged[E interface{ when() span }](all []E, place func(E) int, areInOrder bool) []E {
	all = slices.Clone(all)
	for i := range all {
		for ; i > 0; i-- {
			before, after := place(all[i-1]), place(all[i])
			if after < 0 || before >= 0 && (before < after || areInOrder && all[i-1].when().isBefore(all[i].when())) {
				break
			}
			all[i-1], all[i] = all[i], all[i-1]
		}
	}
	return all
}

// op is an operation on content that is going on.
type op struct {
	*item
	isChange bool
	// existed is what was known at its begin.
	existed truth
	// begun and removed count changes and removals as they were then. isOverlapped: a change was going on.
	begun, removed int
	isOverlapped   bool
}

// begin notes the begin of an operation.
func begin(c *item, isChange bool) *op {
	o := &op{item: c, isChange: isChange, existed: c.exists, isOverlapped: c.changing > 0}
	if isChange {
		c.changing++
		c.changes++
	}
	o.begun, o.removed = c.changes, c.removals
	return o
}

func (o *op) end() {
	if o.isChange {
		o.changing--
	}
}

// isAlone reports whether nothing else has changed the content since the begin.
func (o *op) isAlone() bool { return !o.isOverlapped && o.changes == o.begun }

func newModel() model { return model{meant: map[string]string{}, later: newLaterFields()} }

// clone returns the model as it is now, for the day on which its file is put back. What identifiers mean
// stays one and the same.
func (m model) clone() model {
	clone := model{meant: m.meant, closed: slices.Clone(m.closed), gone: slices.Clone(m.gone), later: m.later.clone()}
	for _, c := range m.contents {
		copied := *c
		copied.titles, copied.recommended = slices.Clone(c.titles), maps.Clone(c.recommended)
		copied.ballots = [2]map[*user]truth{maps.Clone(c.ballots[0]), maps.Clone(c.ballots[1])}
		copied.photos, copied.comments = cloneParts(c.photos), cloneParts(c.comments)
		clone.contents = append(clone.contents, &copied)
	}
	return clone
}

func cloneParts(parts []*part) []*part {
	var clones []*part
	for _, p := range parts {
		copied := *p
		clones = append(clones, &copied)
	}
	return clones
}

// means notes that a client has seen an identifier of something.
func (w *world) means(kind, id, what string) {
	if w.isSmall && w.number(id) > smallids.Max {
		w.violated("%s %s does not fit in 31 bits", kind, id)
	}
	if was, isKnown := w.model.meant[kind+id]; isKnown && was != what {
		w.violated("%s %s was %q and is %q", kind, id, was, what)
	}
	w.model.meant[kind+id] = what
}

// is notes that content is there, or is not, as the reply to an operation says.
func (w *world) is(o *op, there truth) {
	switch {
	case there == yes && o.owner.mustBeHidden():
		w.violated("%s %d of %s is shown, who is hidden", o.kind.name, o.id, o.owner.name)
		return
	case w.mayUndo, o.owner.mayBeHidden():
		return
	case there == no && o.existed == yes && o.removals == o.removed:
		w.violated("%s %d %q is lost", o.kind.name, o.id, o.titles)
	case there == yes && o.existed == no && (o.removals > 0 || o.isAlone()): // otherwise its addition may be repeated
		w.violated("%s %d %q is back", o.kind.name, o.id, o.titles)
	}
	if !o.isAlone() {
		return
	}
	if o.wasAdded == open {
		o.wasAdded = there
	}
	o.exists = there
}

// has compares a number of choices in a reply with what it may be.
func (w *world) has(c *item, what, number string, facts iter.Seq[truth]) {
	if w.mayMiscount {
		return
	}
	least, most := count(facts)
	if n := int(w.number(number)); n < least || n > most {
		w.violated("%s %d has %d %s; it is at least %d and at most %d", c.kind.name, c.id, n, what, least, most)
	}
}

func (w *world) hasTitle(c *item, title string) {
	if !slices.Contains(c.titles, title) {
		w.violated("%s %d has the title %q; it may be one of %q", c.kind.name, c.id, title, c.titles)
	}
	c.titles = []string{title}
}

// hasParts compares the parts of content that a reply shows with those that the clients know. texts and
// ids are in the order of the reply.
func (w *world) hasParts(c *item, kind string, parts []*part, texts, ids []string) {
	next := 0
	for _, p := range arranged(parts, func(p *part) int { return slices.Index(texts, p.text) }, true) {
		if next < len(texts) && texts[next] == p.text {
			if p.by.mustBeHidden() {
				w.violated("%s %d shows %s %q of %s, who is hidden", c.kind.name, c.id, kind, p.text, p.by.name)
			}
			if p.exists == no {
				w.violated("%s %d shows %s %q again, which is gone", c.kind.name, c.id, kind, p.text)
			}
			p.exists, p.id = yes, ids[next]
			w.means(kind+" of "+c.kind.name, p.id, p.text)
			next++
			continue
		}
		if p.by.mayBeHidden() {
			continue
		}
		if p.exists == yes {
			w.violated("%s %d lacks %s %q, or has it in another place", c.kind.name, c.id, kind, p.text)
		}
		c.goes(p)
	}
	if next < len(texts) {
		w.violated("%s %d shows %s %q, which was never added, or in another place", c.kind.name, c.id, kind, texts[next])
	}
}
