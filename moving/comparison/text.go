package comparison

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
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

// canonical returns a text that is the same for all texts that a rule may allow to differ; for times, if they have a precision.
func (w *walk) canonical(kind kind, text string, isOld bool, times precision) string {
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
			return at.Format(layouts[times])
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

// kind says how the text of an element is compared.
type kind int

const (
	plain      kind = iota // a word or a text
	number                 // an integer or a decimal
	coordinate             // a latitude or a longitude
	date                   // year, month or day
	moment                 // a date and a time
	image                  // the address of an image
	albumID
	blogID
	poiID
	photoID
	commentID
)

// kinds are the kinds of elements by their names (sections 4 to 7 of the contract); all others are
// plain. An identifier of a user is plain, because a move keeps it.
var kinds = map[string]kind{
	"lat": coordinate, "lng": coordinate, "score": number, "category": number, "zoomLevel": number, "mapType": number,
	"votes": number, "reward": number, "distance": number,
	"year": date, "month": date, "day": date,
	"time":      moment,
	"thumbnail": image, "photo": image, "photoPath": image, "ownerIcon": image, "authorIcon": image, "commenterIcon": image,
	"albumID": albumID, "blogID": blogID, "replyBlogID": blogID, "POIID": poiID, "photoID": photoID, "commentID": commentID,
}

func (k kind) isID() bool { return k >= albumID }

// list describes the elements that hold items.
type list struct {
	// isOrdered says that the order of the items has a meaning for clients.
	isOrdered bool
}

// lists are the lists by name. The legacy contract does not say in which order items are, but
// ballots name choices by their position.
var lists = map[string]list{
	"albumList": {}, "POIList": {}, "blogList": {}, "photos": {}, "comments": {}, "choices": {isOrdered: true},
}

// optional are the elements that may be absent, with their defaults; "" for none (rules 4.9, 4.14,
// 7.5 and 7.19).
var optional = map[string]string{
	"photos": "", "comments": "", "vote": "", "authorReply": "", "replyBlogID": "0", "zoomLevel": "14", "mapType": "1",
}

// isIdle reports whether an element may as well be absent: it is optional, and empty or its default.
func (e *Element) isIdle() bool {
	standard, isOptional := optional[e.Name]
	return isOptional && (e.isEmpty() || standard != "" && len(e.Children) == 0 && trim(e.Text) == standard)
}

// isEmpty reports whether an element and all its children have no text.
func (e *Element) isEmpty() bool {
	return trim(e.Text) == "" && !slices.ContainsFunc(e.Children, func(child *Element) bool { return !child.isEmpty() })
}

// precision is the smallest part of a time that a text has.
type precision int

const (
	toDay precision = iota
	toMinute
	toSecond
)

// layouts are the times to a precision.
var layouts = [...]string{toDay: time.DateOnly, toMinute: "2006-01-02 15:04", toSecond: time.DateTime}

// form is a form of times.
type form struct {
	layout    string
	precision precision
	hasZone   bool
}

// forms are the forms of times that old servers write. A form that could mean two days, such as
// 3/5/2008, is not among them.
var forms = makeForms()

func makeForms() (all []form) {
	times := []form{
		{"15:4:5", toSecond, false}, {"15:4", toMinute, false}, {"15:4:5Z07:00", toSecond, true}, {"15:4:5 Z07:00", toSecond, true},
		{"15:4:5Z0700", toSecond, true}, {"15:4:5 Z0700", toSecond, true},
		{"3:4:5 PM", toSecond, false}, {"3:4 PM", toMinute, false}, {"PM 3:4:5", toSecond, false}, {"PM 3:4", toMinute, false},
	}
	for _, day := range []string{"2006-1-2", "2006/1/2", "2006.1.2", "2006年1月2日", "Jan 2, 2006", "2 Jan 2006", "Mon, 2 Jan 2006"} {
		all = append(all, form{day, toDay, false})
		for _, each := range times {
			for _, between := range []string{" ", "T"} {
				all = append(all, form{day + between + each.layout, each.precision, each.hasZone})
			}
		}
	}
	return append(all, form{"20060102", toDay, false}, form{"20060102150405", toSecond, false}, form{time.RFC1123, toSecond, true}, form{time.ANSIC, toSecond, false})
}

// halves are the halves of a day in Chinese.
var halves = strings.NewReplacer("上午", "AM ", "下午", "PM ")

// parseMoment reads a time in any of the forms, or as the seconds since 1970. Times without a zone
// are in the given one.
func parseMoment(text string, zone *time.Location) (at time.Time, p precision, ok bool) {
	text = strings.Join(strings.Fields(halves.Replace(text)), " ")
	if len(text) > maxIDBytes {
		return time.Time{}, 0, false
	}
	for _, form := range forms {
		if at, err := time.ParseInLocation(form.layout, text, zone); err == nil {
			return at.In(zone), form.precision, true
		}
	}
	if 9 <= len(text) && len(text) <= 11 && isDigits(text) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		return time.Unix(seconds, 0).In(zone), toSecond, err == nil
	}
	return time.Time{}, 0, false
}

// isSameMoment reports whether two texts are one time, in the parts that both have.
func isSameMoment(old, new string, zone *time.Location) bool {
	a, ofOld, isOld := parseMoment(old, zone)
	b, ofNew, isNew := parseMoment(new, zone)
	if !isOld || !isNew {
		return false
	}
	layout := layouts[min(ofOld, ofNew)]
	return a.Format(layout) == b.Format(layout)
}
