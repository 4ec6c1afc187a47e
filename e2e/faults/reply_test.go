//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
)

// document is an XML or JSON reply as a tree.
type document struct {
	name, text string
	children   []document
}

// at returns the element at a path of names, or an empty document.
func (d document) at(path ...string) document {
	for _, name := range path {
		i := slices.IndexFunc(d.children, func(c document) bool { return c.name == name })
		if i < 0 {
			return document{}
		}
		d = d.children[i]
	}
	return d
}

// parseXML accepts exactly one complete element.
func parseXML(body []byte) (document, error) {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	var stack []document
	root := document{}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			if root.name == "" || len(stack) > 0 {
				return root, errors.New("the document is incomplete")
			}
			return root, nil
		}
		if err != nil {
			return root, err
		}
		switch part := token.(type) {
		case xml.StartElement:
			if root.name != "" {
				return root, errors.New("a second document")
			}
			stack = append(stack, document{name: part.Name.Local})
		case xml.CharData:
			if len(stack) > 0 {
				stack[len(stack)-1].text += string(part)
			}
		case xml.EndElement:
			last := stack[len(stack)-1]
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				root = last
				continue
			}
			parent := &stack[len(stack)-1]
			parent.children = append(parent.children, last)
		}
	}
}

func parseJSON(body []byte) (document, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return document{}, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return document{}, errors.New("a second document")
	}
	return documentOf("response", value), nil
}

func documentOf(name string, value any) document {
	d := document{name: name}
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			d.children = append(d.children, documentOf(key, member))
		}
	case []any:
		for i, item := range v {
			d.children = append(d.children, documentOf(fmt.Sprint(i+1), item))
		}
	default:
		d.text = fmt.Sprint(v)
	}
	return d
}
