package comparison

import (
	"slices"
	"strings"
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

// matchElsewhere looks for items that stand at other positions in the new list. It returns the
// items without a match.
func (w *walk) matchElsewhere(path string, olds, news []*Element, oldRest, newRest []int) (oldLeft, newLeft []int) {
	candidates := map[string][]int{}
	for _, i := range newRest {
		key := w.key(news[i], false)
		candidates[key] = append(candidates[key], i)
	}
	last, isInOrder := -1, true
	matched := map[int]bool{}
	for _, i := range oldRest {
		key := w.key(olds[i], true)
		isFound := false
		for n, at := range candidates[key] {
			if n == maxCandidates {
				break
			}
			if w.try(path+"/"+olds[i].Name, olds[i], news[at]) {
				candidates[key] = slices.Delete(candidates[key], n, n+1)
				matched[at], isFound = true, true
				isInOrder = isInOrder && at > last
				last = at
				break
			}
		}
		if !isFound {
			oldLeft = append(oldLeft, i)
		}
	}
	for _, i := range newRest {
		if !matched[i] {
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

// key returns a text that is the same for items that may stand for each other.
func (w *walk) key(e *Element, isOld bool) string {
	if len(e.Children) == 0 {
		return w.canonical(kinds[e.Name], e.Text, isOld)
	}
	fields := make([]string, 0, len(e.Children))
	for _, child := range e.Children {
		if _, isList := lists[child.Name]; isList || child.isIdle() || kinds[child.Name] == image {
			continue
		}
		fields = append(fields, child.Name+"="+w.key(child, isOld))
	}
	slices.Sort(fields)
	return strings.Join(fields, "\x00")
}
