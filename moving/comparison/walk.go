package comparison

import (
	"strings"
)

// walk is one comparison.
type walk struct {
	comparer    *Comparer
	rules       ruleSet
	differences []Difference
	count       int
	// bytes is the length of all texts that differ.
	bytes   int
	learned overlay
	// isFailure says that both replies are FAILED.
	isFailure bool
}

// root compares two whole replies.
func (w *walk) root(old, new *Element) {
	if old.IsFailed() != new.IsFailed() {
		w.differ(old.Name+"/status", "one fails, the other does not", summary(old), summary(new))
		return
	}
	w.isFailure = old.IsFailed()
	w.element(old.Name, old, new)
}

// allow marks a difference as allowed by a rule. If the rule is strict, it is a difference.
func (w *walk) allow(rule Rule, path, what, old, new string) {
	if w.comparer.strict.has(rule) {
		w.differ(path, what, old, new)
		return
	}
	w.rules.add(rule)
}

func (w *walk) differ(path, what, old, new string) {
	w.count++
	w.bytes += len(old) + len(new)
	if len(w.differences) < maxDifferences {
		w.differences = append(w.differences, Difference{path, what, shown(old), shown(new)})
	}
}

// element compares two elements that stand for each other.
func (w *walk) element(path string, old, new *Element) {
	if old.attributes != new.attributes {
		w.allow(RuleAttributes, path, "other attributes", old.attributes, new.attributes)
	}
	list, isList := lists[old.Name]
	switch {
	case len(old.Children) == 0 && len(new.Children) == 0:
		w.text(path, old.Name, old.Text, new.Text)
		return
	case isList:
		w.list(path, list, old, new)
	case isLeafWithText(old) || isLeafWithText(new):
		w.differ(path, "text in one, elements in the other", summary(old), summary(new))
		return
	default:
		w.fields(path, old, new)
	}
	if trim(old.Text) != trim(new.Text) {
		w.differ(path, "other text between the elements", old.Text, new.Text)
	}
}

func isLeafWithText(e *Element) bool { return len(e.Children) == 0 && trim(e.Text) != "" }

// fields compares children that clients find by their names. Children with one name stand for each
// other in their order.
func (w *walk) fields(path string, old, new *Element) {
	last, isInOrder := -1, true
	taken := make([]bool, len(new.Children))
	places := map[string][]int{}
	for at, child := range new.Children {
		places[child.Name] = append(places[child.Name], at)
	}
	for _, child := range old.Children {
		same := places[child.Name]
		if len(same) == 0 {
			w.missing(path, child, old, new, true)
			continue
		}
		at := same[0]
		places[child.Name], taken[at] = same[1:], true
		isInOrder = isInOrder && at > last
		last = at
		w.element(path+"/"+child.Name, child, new.Children[at])
	}
	for at, child := range new.Children {
		if !taken[at] {
			w.missing(path, child, old, new, false)
		}
	}
	if !isInOrder {
		w.allow(RuleOrder, path, "other order of the fields", names(old), names(new))
	}
}

// missing judges a child that only one of two elements has.
func (w *walk) missing(path string, child, old, new *Element, isOld bool) {
	path += "/" + child.Name
	what, oldText, newText := "only in the new reply", "", summary(child)
	if isOld {
		what, oldText, newText = "only in the old reply", newText, oldText
	}
	switch {
	case child.isIdle():
		w.allow(RuleOptional, path, what, oldText, newText)
	case w.isFailure && child.Name == "info":
		w.allow(RuleFailureText, path, what, oldText, newText)
	case !isOld && isSecondAddress(child, new):
		w.allow(RulePhotoNames, path, what, oldText, newText)
	default:
		w.differ(path, what, oldText, newText)
	}
}

// isSecondAddress reports whether an element gives the address of a photo that its sibling gives
// under the other name (rule 6.6).
func isSecondAddress(child, parent *Element) bool {
	other := map[string]string{"photo": "photoPath", "photoPath": "photo"}[child.Name]
	for _, sibling := range parent.Children {
		if other != "" && sibling.Name == other && sibling.Text == child.Text {
			return true
		}
	}
	return false
}

// names returns the names of the children of an element.
func names(e *Element) string {
	all := make([]string, len(e.Children))
	for i, child := range e.Children {
		all[i] = child.Name
	}
	return strings.Join(all, " ")
}

// summary returns the texts of an element and its children.
func summary(e *Element) string {
	if len(e.Children) == 0 {
		return e.Text
	}
	var text strings.Builder
	for _, child := range e.Children {
		if text.Len() > maxShown {
			break
		}
		text.WriteString(child.Name + "=" + summary(child) + " ")
	}
	return strings.TrimSpace(text.String())
}

// mark is a state of a walk to which it can return.
type mark struct {
	rules       ruleSet
	differences int
	count       int
	bytes       int
	learned     int
}

func (w *walk) mark() mark {
	return mark{w.rules, len(w.differences), w.count, w.bytes, w.learned.len()}
}

func (w *walk) rollBack(to mark) {
	w.rules, w.differences, w.count, w.bytes = to.rules, w.differences[:to.differences], to.count, to.bytes
	w.learned.truncate(to.learned)
}

// try compares two elements and keeps what it finds only if they do not differ.
func (w *walk) try(path string, old, new *Element) bool {
	before := w.mark()
	w.element(path, old, new)
	if w.count == before.count {
		return true
	}
	w.rollBack(before)
	return false
}
