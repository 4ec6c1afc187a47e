package comparison

import (
	"slices"
	"strings"
	"sync"
)

// maxCandidates bounds the items of equal content that are tried for one item.
const maxCandidates = 8

// maxRest bounds the items among which the one with the fewest differences is looked for.
const maxRest = 32

// list compares the items of two lists. Items that differ stand for those from which they differ the
// least.
func (w *walk) list(path string, list list, old, new *Element) {
	olds, news := old.Children, new.Children
	for i := range min(len(olds), len(news)) {
		if olds[i].Name != news[i].Name {
			w.differ(path, "other name of an item", olds[i].Name, news[i].Name)
		}
	}
	var oldRest, newRest []int
	for i := range max(len(olds), len(news)) {
		isPair := i < len(olds) && i < len(news) && w.try(path+"/"+olds[i].Name, olds[i], news[i])
		if !isPair && i < len(olds) {
			oldRest = append(oldRest, i)
		}
		if !isPair && i < len(news) {
			newRest = append(newRest, i)
		}
	}
	isOrdered := list.isOrdered || w.comparer.strict.has(RuleListOrder)
	if !isOrdered {
		oldRest, newRest = w.matchElsewhere(path, olds, news, oldRest, newRest)
	}
	for len(oldRest) > 0 && len(newRest) > 0 {
		item, at := olds[oldRest[0]], 0
		if !isOrdered && len(newRest) <= maxRest {
			at = w.closest(path, item, news, newRest)
		}
		w.element(path+"/"+item.Name, item, news[newRest[at]])
		oldRest, newRest = oldRest[1:], slices.Delete(newRest, at, at+1)
	}
	for _, i := range oldRest {
		w.differ(path+"/"+olds[i].Name, "an item only in the old reply", summary(olds[i]), "")
	}
	for _, i := range newRest {
		w.differ(path+"/"+news[i].Name, "an item only in the new reply", "", summary(news[i]))
	}
}

// matchElsewhere looks for items that stand at other positions in the new list, first for those whose times are equal
// to the second. It returns the items without a match.
func (w *walk) matchElsewhere(path string, olds, news []*Element, oldRest, newRest []int) (oldLeft, newLeft []int) {
	matches, taken := map[int]int{}, map[int]bool{}
	for times := toSecond; times >= toDay; times-- {
		candidates := map[string][]int{}
		for _, i := range newRest {
			if !taken[i] {
				key := w.key(news[i], false, times)
				candidates[key] = append(candidates[key], i)
			}
		}
		for _, i := range oldRest {
			if _, isMatched := matches[i]; isMatched {
				continue
			}
			key := w.key(olds[i], true, times)
			for n, at := range candidates[key] {
				if n == maxCandidates {
					break
				}
				if w.try(path+"/"+olds[i].Name, olds[i], news[at]) {
					candidates[key] = slices.Delete(candidates[key], n, n+1)
					matches[i], taken[at] = at, true
					break
				}
			}
		}
	}
	last, isInOrder := -1, true
	for _, i := range oldRest {
		at, isMatched := matches[i]
		if !isMatched {
			oldLeft = append(oldLeft, i)
			continue
		}
		isInOrder = isInOrder && at > last
		last = at
	}
	for _, i := range newRest {
		if !taken[i] {
			newLeft = append(newLeft, i)
		}
	}
	if !isInOrder {
		w.allow(RuleListOrder, path, "other order of the items", "", "")
	}
	return oldLeft, newLeft
}

// closest returns the place in rest of the new item from which an old one differs the least, counted
// in the bytes of the texts that differ: long texts tell items apart, numbers do not.
func (w *walk) closest(path string, item *Element, news []*Element, rest []int) (at int) {
	before, least := w.mark(), -1
	for i, each := range rest {
		w.element(path+"/"+item.Name, item, news[each])
		if bytes := w.bytes - before.bytes; least < 0 || bytes < least {
			at, least = i, bytes
		}
		w.rollBack(before)
	}
	return at
}

// key returns a text that is the same for items that may stand for each other, if their times have a precision.
func (w *walk) key(e *Element, isOld bool, times precision) string {
	if len(e.Children) == 0 {
		return w.canonical(kinds[e.Name], e.Text, isOld, times)
	}
	fields := make([]string, 0, len(e.Children))
	for _, child := range e.Children {
		if _, isList := lists[child.Name]; isList || child.isIdle() || kinds[child.Name] == image {
			continue
		}
		fields = append(fields, child.Name+"="+w.key(child, isOld, times))
	}
	slices.Sort(fields)
	return strings.Join(fields, "\x00")
}

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
