package comparison

import (
	"strings"
	"sync"
)

// maxIDBytes is the length of the longest text that counts as an identifier.
const maxIDBytes = 64

// key is an identifier of a kind, of one server.
type key struct {
	kind kind
	id   string
}

// isIdentifier reports whether a text may be an identifier: a number other than 0, or a word.
func isIdentifier(text string) bool {
	return text != "" && text != "0" && len(text) <= maxIDBytes && !strings.ContainsAny(text, " \t\r\n")
}

// pairs are the identifiers of two servers that stand for each other: at most one new for each old
// one, and one old for each new one. It is safe for concurrent use.
type pairs struct {
	limit int

	mu   sync.RWMutex
	news map[key]string
	olds map[key]string
}

func (p *pairs) newOf(old key) (new string, isKnown bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	new, isKnown = p.news[old]
	return new, isKnown
}

func (p *pairs) oldOf(new key) (old string, isKnown bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	old, isKnown = p.olds[new]
	return old, isKnown
}

// learn adds pairs, up to the limit. Another comparison may have learned one that contradicts a
// pair; the first one counts.
func (p *pairs) learn(learned overlay) {
	if learned.len() == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.news == nil {
		p.news, p.olds = map[key]string{}, map[key]string{}
	}
	for _, each := range learned.log {
		_, isOldKnown := p.news[each.old]
		_, isNewKnown := p.olds[each.new]
		if isOldKnown || isNewKnown || len(p.news) >= p.limit {
			continue
		}
		// Clones: an identifier may be a part of a whole reply.
		old, new := key{each.old.kind, strings.Clone(each.old.id)}, key{each.new.kind, strings.Clone(each.new.id)}
		p.news[old], p.olds[new] = new.id, old.id
	}
}

// overlay are the pairs that one comparison has learned so far. It can forget the latest.
type overlay struct {
	log        []pair
	news, olds map[key]string
}

type pair struct{ old, new key }

func (o *overlay) len() int { return len(o.log) }

func (o *overlay) add(old, new key) {
	if o.news == nil {
		o.news, o.olds = map[key]string{}, map[key]string{}
	}
	o.log = append(o.log, pair{old, new})
	o.news[old], o.olds[new] = new.id, old.id
}

func (o *overlay) truncate(length int) {
	for _, each := range o.log[length:] {
		delete(o.news, each.old)
		delete(o.olds, each.new)
	}
	o.log = o.log[:length]
}

// newOf returns the new identifier that stands for an old one, as far as the walk knows.
func (w *walk) newOf(old key) (new string, isKnown bool) {
	if new, isKnown = w.learned.news[old]; isKnown {
		return new, true
	}
	return w.comparer.pairs.newOf(old)
}

func (w *walk) oldOf(new key) (old string, isKnown bool) {
	if old, isKnown = w.learned.olds[new]; isKnown {
		return old, true
	}
	return w.comparer.pairs.oldOf(new)
}
