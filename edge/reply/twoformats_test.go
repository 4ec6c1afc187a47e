package reply

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waybook/waybook/edge/form"
)

// element is an element as a reader sees it. The items of a list are its children. A leaf has a
// text and no children.
type element struct {
	Name, Text string
	Children   []element
}

// Any document has the same content in XML, read by encoding/xml, and in JSON, read by
// encoding/json. Both equal the elements that were written.
func FuzzADocumentReadsBackTheSameInBothFormats(f *testing.F) {
	f.Add([]byte("\x02\x01\x02\x02\x06\x02\x02\x06\x01\x03\x04\x05\x00\x06\x01\x02\x07\x07\x05"), "a & b <c>]]>\r\n\t\"'\\", 25.5, int64(-3))
	f.Add([]byte("\x01\x01\x00\x06\x07\x06\x02\x07\x07\x03\x04\x05"), "\x00\xff晴\u2028\uFFFE", 1e-300, int64(form.MaxID))
	f.Fuzz(func(t *testing.T, program []byte, text string, decimal float64, integer int64) {
		if len(program) > 200 {
			return
		}
		zone := time.FixedZone("Taipei", 8*60*60)
		inXML, inJSON := Document{Zone: zone}, Document{Zone: zone}
		want := writeProgram(XML{&inXML}, program, text, decimal, integer)
		writeProgram(JSON{&inJSON}, program, text, decimal, integer)
		if diff := cmp.Diff(want, elementOfXML(t, inXML.Bytes)); diff != "" {
			t.Errorf("XML: %s", diff)
		}
		if diff := cmp.Diff(want, elementOfJSON(t, inJSON.Bytes)); diff != "" {
			t.Errorf("JSON: %s", diff)
		}
	})
}

// writeProgram writes a document, one step per byte, and returns the elements that a reader must
// find.
func writeProgram(out Writer, program []byte, text string, decimal float64, integer int64) element {
	type open struct {
		element
		isList, isItem bool
		position       int
	}
	stack := []open{{element: element{Name: "response"}}}
	top := func() *open { return &stack[len(stack)-1] }
	leave := func() {
		done := *top()
		switch {
		case done.isItem:
			out.EndItem("x", done.position)
		case done.isList:
			out.EndList(done.Name)
		default:
			out.End(done.Name)
		}
		stack = stack[:len(stack)-1]
		top().Children = append(top().Children, done.element)
	}
	leaf := func(name, value string) { top().Children = append(top().Children, element{Name: name, Text: value}) }

	out.Start()
	for _, step := range program {
		if top().isList { // a list has only items
			if step%2 == 0 {
				position := len(top().Children) + 1
				out.BeginItem("x", position)
				stack = append(stack, open{element: element{Name: "item"}, isItem: true, position: position})
			} else {
				leave()
			}
			continue
		}
		name := fmt.Sprintf("n%d", len(top().Children))
		switch step % 7 {
		case 0:
			out.Begin(name)
			stack = append(stack, open{element: element{Name: name}})
		case 1:
			out.BeginList(name)
			stack = append(stack, open{element: element{Name: name}, isList: true})
		case 2:
			out.Text(name, text)
			leaf(name, replaced(text))
		case 3:
			out.Integer(name, integer)
			leaf(name, fmt.Sprint(integer))
		case 4:
			out.Decimal(name, decimal)
			leaf(name, string(appendDecimal(nil, decimal)))
		case 5:
			out.Moment(name, time.Date(2008, 12, 31, 20, 5, 6, 0, time.UTC))
			leaf(name, "2009-01-01 04:05:06")
		case 6:
			if len(stack) > 1 {
				leave()
			}
		}
	}
	for len(stack) > 1 {
		leave()
	}
	out.Finish()
	return stack[0].element
}

func elementOfXML(t *testing.T, written []byte) element {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(written))
	stack := []element{{}}
	for {
		token, err := decoder.Token()
		if err != nil {
			if len(stack) != 1 || len(stack[0].Children) != 1 {
				t.Fatalf("%v in %q", err, written)
			}
			return stack[0].Children[0]
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if strings.HasPrefix(name, "x") {
				if position := fmt.Sprintf("x%d", len(stack[len(stack)-1].Children)+1); name != position {
					t.Fatalf("got item %s at position %s", name, position)
				}
				name = "item"
			}
			stack = append(stack, element{Name: name})
		case xml.EndElement:
			done := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			parent := &stack[len(stack)-1]
			parent.Children = append(parent.Children, done)
		case xml.CharData:
			if len(stack) > 1 { // text before the first element belongs to no element
				stack[len(stack)-1].Text += string(token)
			}
		}
	}
}

func elementOfJSON(t *testing.T, written []byte) element {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.UseNumber()
	next := func() json.Token {
		token, err := decoder.Token()
		if err != nil {
			t.Fatalf("%v in %q", err, written)
		}
		return token
	}
	var value func(name string) element
	value = func(name string) element {
		read := element{Name: name}
		switch token := next(); token {
		case json.Delim('{'):
			for decoder.More() {
				read.Children = append(read.Children, value(next().(string)))
			}
			next()
		case json.Delim('['):
			for decoder.More() {
				read.Children = append(read.Children, value("item"))
			}
			next()
		default:
			read.Text = fmt.Sprint(token)
		}
		return read
	}
	return value("response")
}
