package world

import (
	"iter"
	"maps"
	"slices"
)

// truth is what the clients know of a fact.
type truth int

const (
	no truth = iota
	yes
	// open: an operation got no answer, so it has happened or not.
	open
)

// after returns what is known after an operation that makes the fact so, or not so, if it happens.
func (t truth) after(r reply, becomes truth) truth {
	switch {
	case r.isDone:
		return becomes
	case r.info == "" && t != becomes:
		return open
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
}

// item is what the clients know of an album or a blog.
type item struct {
	*kind
	owner *user
	// id is 0 as long as no reply has named it.
	id int64
	// wasAdded says whether it ever was, and exists whether it is still there.
	wasAdded, exists truth
	// titles has the title, and those of later updates without an answer.
	titles []string
	// photos and comments are in the order of their addition.
	photos, comments []*part
	// recommended says of each user whether the recommendation is given, and ballots whether one for the
	// first or the second choice is.
	recommended map[*user]truth
	ballots     [2]map[*user]truth
}

// part is a photo or a comment. Its text is unlike that of any other.
type part struct {
	text   string
	id     string
	exists truth
}

func newModel() model { return model{meant: map[string]string{}} }

// clone returns the model as it is now, for the day on which its file is put back. What identifiers mean
// stays one and the same.
func (m model) clone() model {
	clone := model{meant: m.meant}
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
	w.t.Helper()
	if was, isKnown := w.model.meant[kind+id]; isKnown && was != what {
		w.violated("%s %s was %q and is %q", kind, id, was, what)
	}
	w.model.meant[kind+id] = what
}

// is notes that content is there, or is not.
func (w *world) is(c *item, there truth) {
	w.t.Helper()
	switch {
	case there == no && c.exists == yes:
		w.violated("%s %d %q is lost", c.kind.name, c.id, c.titles)
	case there == yes && c.exists == no:
		w.violated("%s %d %q is back", c.kind.name, c.id, c.titles)
	}
	if c.wasAdded == open {
		c.wasAdded = there
	}
	c.exists = there
}

// has compares a number of a reply with what it may be.
func (w *world) has(c *item, what, number string, facts iter.Seq[truth]) {
	w.t.Helper()
	least, most := count(facts)
	if n := int(w.number(number)); n < least || n > most {
		w.violated("%s %d has %d %s; it is at least %d and at most %d", c.kind.name, c.id, n, what, least, most)
	}
}

func (w *world) hasTitle(c *item, title string) {
	w.t.Helper()
	if !slices.Contains(c.titles, title) {
		w.violated("%s %d has the title %q; it may be one of %q", c.kind.name, c.id, title, c.titles)
	}
	c.titles = []string{title}
}

// hasParts compares the parts of content that a reply shows with those that the clients know. texts and
// ids are in the order of the reply.
func (w *world) hasParts(c *item, kind string, parts []*part, texts, ids []string) {
	w.t.Helper()
	next := 0
	for _, p := range parts {
		if next < len(texts) && texts[next] == p.text {
			if p.exists == no {
				w.violated("%s %d shows %s %q again, which is gone", c.kind.name, c.id, kind, p.text)
			}
			p.exists, p.id = yes, ids[next]
			w.means(kind+" of "+c.kind.name, p.id, p.text)
			next++
			continue
		}
		if p.exists == yes {
			w.violated("%s %d lacks %s %q, or has it in another place", c.kind.name, c.id, kind, p.text)
		}
		p.exists = no
	}
	if next < len(texts) {
		w.violated("%s %d shows %s %q, which was never added, or in another place", c.kind.name, c.id, kind, texts[next])
	}
}
