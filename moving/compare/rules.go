package compare

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/text"
)

var (
	// identifiers are the elements with an identifier that a move may change, and a letter for its
	// kind.
	identifiers = map[string]byte{"albumID": 'a', "blogID": 'b', "replyBlogID": 'b', "POIID": 'l', "photoID": 'p',
		"commentID": 'c'}
	// optional are the elements that may be absent, with their defaults (rules 4.9, 4.14, 7.5 and
	// 7.19).
	optional = map[string]string{
		"photos": "", "comments": "", "vote": "", "authorReply": "", "replyBlogID": "0", "zoomLevel": "14",
		"mapType": "1",
	}
	position  = regexp.MustCompile(`\d+`)   // in the name of an item, such as photo2
	plainName = regexp.MustCompile(`^\w+$`) // of a parameter that every server reads alike
	// uploaded is the address of a photo whose file Waybook has.
	uploaded = regexp.MustCompile(`(^|/)upload/(album|poi)/\d+/\d+-(thumb|view)\.jpg$`)
)

// element is an element of a reply. Attributes and comments never count.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func (e *element) name() string { return e.XMLName.Local }

// bare returns the text without white space at its ends and in the form of its line breaks.
func (e *element) bare() string { return strings.TrimSpace(strings.ReplaceAll(e.Text, "\r\n", "\n")) }

// child returns the text of a child; "" if there is none.
func (e *element) child(name string) string {
	for i := range e.Children {
		if e.Children[i].name() == name {
			return e.Children[i].bare()
		}
	}
	return ""
}

func (e *element) isEmpty() bool {
	return e.bare() == "" && !slices.ContainsFunc(e.Children, func(child element) bool { return !child.isEmpty() })
}

// shown describes an element in a difference.
func (e *element) shown() string {
	if len(e.Children) > 0 {
		return fmt.Sprintf("%d elements", len(e.Children))
	}
	return strconv.Quote(text.Beginning(e.bare(), 200))
}

// parseReply reads a reply in UTF-8, or in Big5 if it says so.
func parseReply(body []byte) (*element, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\uFEFF")))
	decoder, root := xml.NewDecoder(bytes.NewReader(body)), new(element)
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if !strings.EqualFold(label, "big5") {
			return nil, fmt.Errorf("the charset %s is neither UTF-8 nor Big5", label)
		}
		return traditionalchinese.Big5.NewDecoder().Reader(in), nil
	}
	if err := decoder.Decode(root); err != nil {
		return nil, fmt.Errorf("the reply is no XML: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF || body[0] != '<' || root.name() != "response" ||
		root.child("status") == "" {
		return nil, errors.New("the reply is not one response with a status, and nothing else")
	}
	return root, nil
}

type id struct {
	kind   byte
	number int64
}

// comparer compares replies. It remembers which identifiers of both servers stand for each other,
// one for one. Beyond maxPairs, it allows other pairs and forgets them.
type comparer struct {
	zone       *time.Location
	news, olds map[id]int64
}

type walk struct {
	*comparer
	function    string
	isFailed    bool
	rules       map[string]bool
	differences []string
	// added are the old identifiers that this reply has added.
	added []id
}

// compare returns the differences of two replies to a function, and the rules that allowed others.
// docs/moving-in.md has the rules. No client of the legacy contract relies on what they allow.
func (c *comparer) compare(function string, old, new *element) (differences []string, rules map[string]bool) {
	w := walk{comparer: c, function: function, isFailed: old.child("status") == "FAILED", rules: map[string]bool{}}
	if w.isFailed != (new.child("status") == "FAILED") {
		w.differ("/status", "old %q %q, new %q %q", old.child("status"), old.child("info"), new.child("status"),
			new.child("info"))
		return w.differences, nil
	}
	w.element("", old, new)
	if len(w.differences) > 0 {
		for _, was := range w.added { // the replies may be of other content, whose identifiers are no pairs
			delete(c.olds, id{was.kind, c.news[was]})
			delete(c.news, was)
		}
	}
	return w.differences, w.rules
}

func (w *walk) differ(path, format string, args ...any) {
	w.differences = append(w.differences, strings.TrimPrefix(path, "/")+": "+fmt.Sprintf(format, args...))
}

// element compares two elements of one name. Clients find children by their names; those of one
// name stand for each other in their order.
func (w *walk) element(path string, old, new *element) {
	w.text(path, old, new)
	places, last := map[string][]int{}, -1
	for at := range new.Children {
		name := new.Children[at].name()
		places[name] = append(places[name], at)
	}
	for i := range old.Children {
		child := &old.Children[i]
		name := child.name()
		if len(places[name]) == 0 {
			w.missing(path+"/"+name, child, nil)
			continue
		}
		at := places[name][0]
		places[name] = places[name][1:]
		if last = max(last, at); at < last {
			w.rules["order"] = true
		}
		w.element(path+"/"+name, child, &new.Children[at])
	}
	for at := range new.Children {
		if child := &new.Children[at]; slices.Contains(places[child.name()], at) {
			w.missing(path+"/"+child.name(), child, new)
		}
	}
}

// text compares the texts of two elements themselves.
func (w *walk) text(path string, old, new *element) {
	was, is := old.bare(), new.bare()
	switch rule, isSame := w.form(old.name(), was, is); {
	case isSame && was != is:
		w.rules[rule] = true
	case rule == "ids" && !isSame:
		w.differ(path, "old %s, new %s: at least one stood for another identifier before", old.shown(), new.shown())
	case was != is:
		w.differ(path, "old %s, new %s", old.shown(), new.shown())
	case old.Text != new.Text && len(old.Children)+len(new.Children) == 0:
		w.rules["space"] = true
	}
}

// form returns the rule for the texts of an element, and whether it allows two to differ. No rule
// allows another userID: a move keeps the identifiers of users.
func (w *walk) form(name, was, is string) (rule string, isSame bool) {
	switch name {
	case "lat", "lng", "category", "score", "zoomLevel", "mapType", "votes", "distance", "year", "month", "day":
		return "numbers", isSameNumber(was, is)
	case "time":
		return "times", isSameTime(was, is, w.zone)
	case "thumbnail", "photo", "photoPath":
		return "images", uploaded.MatchString(is) || isSameImage(was, is)
	case "ownerIcon", "authorIcon", "commenterIcon":
		return "images", isSameImage(was, is)
	case "info":
		return "info", w.isFailed
	}
	if kind, isID := identifiers[name]; isID {
		return "ids", w.isPair(kind, was, is)
	}
	return "", was == is
}

// missing judges a child that only the old reply has, or only the new one, whose parent is given
// then.
func (w *walk) missing(path string, child, parent *element) {
	standard, isOptional := optional[child.name()]
	switch {
	case isOptional && (child.isEmpty() || standard != "" && child.bare() == standard):
		w.rules["optional"] = true
	case w.isFailed && path == "/info":
		w.rules["info"] = true
	case parent == nil:
		w.differ(path, "only in the old reply: %s", child.shown())
	case slices.Contains(edge.AddedElements(), w.function+position.ReplaceAllString(path, "")),
		child.name() == "photo" && parent.child("photoPath") == child.bare(), child.name() == "photoPath" &&
			parent.child("photo") == child.bare():
		w.rules["additions"] = true
	default:
		w.differ(path, "only in the new reply: %s", child.shown())
	}
}

// isPair reports whether two identifiers of a kind may stand for each other, and remembers them.
func (w *walk) isPair(kind byte, old, new string) bool {
	was, oldErr := strconv.ParseInt(old, 10, 64)
	is, newErr := strconv.ParseInt(new, 10, 64)
	if oldErr != nil || newErr != nil || was == 0 || is == 0 {
		return old == new
	}
	oldID, newID := id{kind, was}, id{kind, is}
	if w.news[oldID] != 0 || w.olds[newID] != 0 {
		return w.news[oldID] == is
	}
	if len(w.news) < maxPairs {
		w.news[oldID], w.olds[newID] = is, was
		w.added = append(w.added, oldID)
	}
	return true
}

func isSameNumber(old, new string) bool {
	was, oldErr := strconv.ParseFloat(old, 64)
	is, newErr := strconv.ParseFloat(new, 64)
	return oldErr == nil && newErr == nil && was == is
}

// isSameImage reports whether two addresses differ only before their paths.
func isSameImage(old, new string) bool {
	was, oldErr := url.Parse(old)
	is, newErr := url.Parse(new)
	return oldErr == nil && newErr == nil && was.Path != "" &&
		strings.Trim(was.Path, "/") == strings.Trim(is.Path, "/") && was.RawQuery == is.RawQuery
}

// isSameTime compares two times to the second, or to the minute if one has no seconds.
func isSameTime(old, new string, zone *time.Location) bool {
	was, is := parseTime(old, zone), parseTime(new, zone)
	if strings.Count(old, ":") == 1 || strings.Count(new, ":") == 1 {
		was, is = was.Truncate(time.Minute), is.Truncate(time.Minute)
	}
	return !was.IsZero() && was.Equal(is)
}

// parseTime reads a time in one of the forms of the rule; the zero time if it has none of them.
func parseTime(text string, zone *time.Location) time.Time {
	text = strings.Replace(strings.ReplaceAll(text, "/", "-"), "T", " ", 1)
	for _, clock := range []string{"15:4:5", "15:4:5Z07:00", "15:4:5Z0700", "15:4"} {
		if at, err := time.ParseInLocation("2006-1-2 "+clock, text, zone); err == nil {
			return at
		}
	}
	return time.Time{}
}
