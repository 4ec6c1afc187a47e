package comparison

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/traditionalchinese"
)

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
	case "big5", "big5-hkscs", "cn-big5":
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
