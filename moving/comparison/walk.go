package comparison

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"
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
	return other != "" && slices.ContainsFunc(parent.Children, func(e *Element) bool { return e.Name == other && e.Text == child.Text })
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

// maxDepth is far above the 4 levels of the deepest reply.
const maxDepth = 32

// Element is an element of a reply. Comments, processing instructions and the white space between
// elements are left out; entities and CDATA sections are text like any other.
type Element struct {
	Name string
	// Text is the text of an element without children. Of one with children it is the text
	// between them without white space at its ends, which the contract never has.
	Text     string
	Children []*Element
	// attributes are the attributes as they were written; namespaces are left out.
	attributes string
}

// root is the name of the root element (rule 8.1).
const root = "response"

// opened is an element whose end was not read yet, with its text so far.
type opened struct {
	*Element
	text []byte
}

// parse reads a reply with at most so many elements.
func parse(reply []byte, maxElements int) (*Element, error) {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(reply, []byte("\uFEFF"))))
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = charsetReader
	var top *Element
	var open []opened
	for count := 0; ; {
		token, err := decoder.Token()
		if err == io.EOF && top != nil && len(open) == 0 {
			return top, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the reply is not XML: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if count++; count > maxElements || len(open) == maxDepth {
				return nil, fmt.Errorf("the reply has more than %d elements, or %d levels", maxElements, maxDepth)
			}
			element := &Element{Name: token.Name.Local, attributes: written(token.Attr)}
			if len(open) > 0 {
				parent := open[len(open)-1].Element
				parent.Children = append(parent.Children, element)
			} else if top != nil || element.Name != root {
				return nil, errors.New("the reply is not one element named response")
			} else {
				top = element
			}
			open = append(open, opened{Element: element})
		case xml.CharData:
			if len(open) > 0 {
				last := &open[len(open)-1]
				last.text = append(last.text, token...)
			}
		case xml.EndElement:
			ended := open[len(open)-1]
			open = open[:len(open)-1]
			if len(ended.Children) > 0 {
				ended.text = bytes.TrimSpace(ended.text)
			}
			ended.Text = string(ended.text)
		}
	}
}

// written returns attributes in one text.
func written(attributes []xml.Attr) string {
	var text strings.Builder
	for _, each := range attributes {
		if each.Name.Space != "xmlns" && each.Name.Local != "xmlns" {
			fmt.Fprintf(&text, " %s=%q", each.Name.Local, each.Value)
		}
	}
	return text.String()
}

// charsetReader decodes the encodings that old servers of the contract's time declare.
func charsetReader(label string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "utf-8", "utf8", "us-ascii", "ascii":
		return input, nil
	case "big5", "big5-hkscs", "cn-big5", "ms950", "cp950", "x-windows-950":
		return traditionalchinese.Big5.NewDecoder().Reader(input), nil
	case "iso-8859-1", "latin1", "windows-1252", "cp1252":
		return charmap.Windows1252.NewDecoder().Reader(input), nil
	}
	return nil, fmt.Errorf("the encoding %q is unknown", label)
}

// IsFailed reports whether a reply is a failure (rule 10.1).
func (e *Element) IsFailed() bool {
	for _, child := range e.Children {
		if child.Name == "status" {
			return strings.TrimSpace(child.Text) == "FAILED"
		}
	}
	return false
}

// Line is a line of a reply as Lines writes it.
type Line struct {
	// Path is the path of the element, as in Difference.Path.
	Path, Text string
}

// Lines writes the reply for people, with a line for each element and each line of its text; at most
// limit lines, each shortened as in Difference.
func (e *Element) Lines(limit int) []Line {
	var lines []Line
	e.appendLines(&lines, "", e.Name, limit)
	return lines
}

func (e *Element) appendLines(lines *[]Line, indent, path string, limit int) {
	if len(*lines) >= limit {
		return
	}
	open := indent + "<" + e.Name + e.attributes + ">"
	if len(e.Children) == 0 {
		*lines = append(*lines, Line{path, open + shown(e.Text) + "</" + e.Name + ">"})
		return
	}
	*lines = append(*lines, Line{path, open + shown(e.Text)})
	for _, child := range e.Children {
		child.appendLines(lines, indent+"  ", path+"/"+child.Name, limit)
	}
	if len(*lines) < limit {
		*lines = append(*lines, Line{path, indent + "</" + e.Name + ">"})
	}
}
