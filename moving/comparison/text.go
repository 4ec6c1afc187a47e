package comparison

import (
	"math"
	"net/url"
	"strconv"
	"strings"
)

// trim removes white space at the ends of a text.
func trim(text string) string { return strings.TrimSpace(text) }

// lineBreaks makes every line break a line feed.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// text compares the texts of two elements without children.
func (w *walk) text(path, name string, old, new string) {
	kind := kinds[name]
	if old != new {
		if w.isFailure && name == "info" {
			w.allow(RuleFailureText, path, "other text", old, new)
			return
		}
		oldBare, newBare := lineBreaks.Replace(trim(old)), lineBreaks.Replace(trim(new))
		if oldBare == newBare {
			w.allow(RuleWhiteSpace, path, "other white space", old, new)
		} else if rule, isAllowed := w.ruleFor(kind, oldBare, newBare); isAllowed {
			w.allow(rule, path, "other form", old, new)
		} else if !kind.isID() {
			w.differ(path, "other "+kind.String(), old, new)
		}
	}
	if kind.isID() {
		w.identifier(path, kind, trim(old), trim(new))
	}
}

// String names a kind in a difference.
func (k kind) String() string {
	switch k {
	case number, coordinate:
		return "number"
	case date, moment:
		return "date"
	case image:
		return "address"
	}
	return "text"
}

// ruleFor returns the rule that allows two texts of a kind to differ. Identifiers have another
// method.
func (w *walk) ruleFor(kind kind, old, new string) (rule Rule, isAllowed bool) {
	switch kind {
	case number:
		return RuleNumbers, isSameNumber(old, new, 0)
	case coordinate:
		return RuleNumbers, isSameNumber(old, new, maxDegrees)
	case date:
		return RuleDates, isDigits(old) && isDigits(new) && isSameNumber(old, new, 0)
	case moment:
		return RuleDates, isSameMoment(old, new, w.comparer.options.Zone)
	case image:
		return RuleImageHosts, isSameImage(old, new)
	}
	return 0, false
}

// identifier compares two identifiers. They are allowed to differ if each stands only for the other.
func (w *walk) identifier(path string, kind kind, old, new string) {
	if old == new && (old == "" || old == "0") {
		return
	}
	if !isIdentifier(old) || !isIdentifier(new) {
		if old != new {
			w.differ(path, "no identifier", old, new)
		}
		return
	}
	if old != new && w.comparer.strict.has(RuleIDs) {
		w.differ(path, "another identifier", old, new)
		return
	}
	oldKey, newKey := key{kind, old}, key{kind, new}
	knownNew, isOldKnown := w.newOf(oldKey)
	knownOld, isNewKnown := w.oldOf(newKey)
	switch {
	case isOldKnown && knownNew != new:
		w.differ(path, "an identifier that was "+shown(knownNew)+" in the new replies before", old, new)
		return
	case isNewKnown && knownOld != old:
		w.differ(path, "an identifier that was "+shown(knownOld)+" in the old replies before", old, new)
		return
	case !isOldKnown && !isNewKnown:
		w.learned.add(oldKey, newKey)
	}
	if old != new {
		w.rules.add(RuleIDs)
	}
}

// canonical returns a text that is the same for all texts that a rule may allow to differ.
func (w *walk) canonical(kind kind, text string, isOld bool) string {
	text = lineBreaks.Replace(trim(text))
	switch {
	case kind == number || kind == date:
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(value, 'g', -1, 64)
		}
	case kind == coordinate:
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(value, 'f', 5, 64)
		}
	case kind == moment:
		if at, _, ok := parseMoment(text, w.comparer.options.Zone); ok {
			return at.Format("2006-01-02")
		}
	case kind.isID() && isOld:
		known, _ := w.newOf(key{kind, text})
		return known
	case kind.isID():
		if _, isKnown := w.oldOf(key{kind, text}); !isKnown {
			return ""
		}
	}
	return text
}

// maxDegrees is how far rounding may move a coordinate: 5 cm.
const maxDegrees = 5e-7

// isSameNumber reports whether two decimals are at most so far apart.
func isSameNumber(old, new string, distance float64) bool {
	a, errOld := strconv.ParseFloat(old, 64)
	b, errNew := strconv.ParseFloat(new, 64)
	return errOld == nil && errNew == nil && (a == b || math.Abs(a-b) <= distance)
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// isSameImage reports whether two addresses differ only in what comes before their paths. At least
// one of them has a host.
func isSameImage(old, new string) bool {
	a, errOld := url.Parse(old)
	b, errNew := url.Parse(new)
	if errOld != nil || errNew != nil || a.Host == "" && b.Host == "" || a.Opaque != "" || b.Opaque != "" {
		return false
	}
	path := func(u *url.URL) string { return strings.TrimPrefix(u.EscapedPath(), "/") }
	return path(a) != "" && path(a) == path(b) && a.RawQuery == b.RawQuery
}
