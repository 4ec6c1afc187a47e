// Package output prints results: as aligned tables for people, as JSON and YAML for programs, and by a template.
// Results go to standard output. Notes go to standard error.
package output

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Format is the format of results: one of those below, or jsonpath= and a template.
type Format string

// The formats.
const (
	Table Format = "table"
	JSON  Format = "json"
	YAML  Format = "yaml"
	// Name prints only identifiers.
	Name Format = "name"

	byTemplate = "jsonpath="
)

// Words returns the formats; a template follows the last.
func (Format) Words() []string {
	return []string{string(Table), string(JSON), string(YAML), string(Name), byTemplate}
}

// UnmarshalText takes one of the formats.
func (f *Format) UnmarshalText(text []byte) error {
	*f = Format(text)
	if template, isTemplate := f.template(); isTemplate {
		_, err := parseTemplate(template)
		return err
	}
	if words := f.Words(); !slices.Contains(words[:4], string(text)) {
		return fmt.Errorf(`must be one of "%s" and a template`, strings.Join(words, `","`))
	}
	return nil
}

func (f Format) template() (string, bool) { return strings.CutPrefix(string(f), byTemplate) }

// isText reports whether a value is one line: its name, or a template.
func (f Format) isText() bool { return f == Name || strings.HasPrefix(string(f), byTemplate) }

// Printer prints results in one format.
type Printer struct {
	Format Format
	// NoHeaders leaves out the headings of tables.
	NoHeaders bool
	Out       io.Writer
	// Notes receives messages that are not results.
	Notes io.Writer
}

// Note prints a message that is not part of the result.
func (p *Printer) Note(format string, args ...any) {
	// A note that can't be written is lost; there is no better place to report it.
	_, _ = fmt.Fprintf(p.Notes, format+"\n", args...)
}

// Value prints one value. In the table format, layout writes it.
func (p *Printer) Value(value any, layout func(*Page)) error {
	switch p.Format {
	case JSON:
		return p.json(value)
	case YAML:
		return p.yaml(value)
	}
	if p.Format.isText() {
		return p.text(value)
	}
	page := &Page{out: p.Out, noHeaders: p.NoHeaders}
	layout(page)
	return page.err
}

// Tagged prints a value that has json tags. In the table format, layout writes it.
func (p *Printer) Tagged(value any, layout func(*Page)) error {
	fields, err := FromJSON(value)
	if err != nil {
		return err
	}
	if fields == nil { // a slice without items
		fields = List{}
	}
	return p.Value(fields, layout)
}

// text prints the line of a value, or of each item of a list.
func (p *Printer) text(value any) error {
	if list, isList := value.(List); isList {
		for _, item := range list {
			if err := p.text(item); err != nil {
				return err
			}
		}
		return nil
	}
	var line string
	if template, isTemplate := p.Format.template(); isTemplate {
		parts, err := parseTemplate(template)
		if err != nil {
			return err
		}
		line = fillTemplate(parts, value)
	} else if line = nameOf(value); line == "" {
		p.Note("this result has no identifier; use another --output")
		return nil
	}
	_, err := io.WriteString(p.Out, line+"\n")
	return err
}

// nameOf returns the identifier of a thing: its first field that is one, or that of the first object in it.
func nameOf(value any) string {
	object, _ := value.(Object)
	for _, field := range object {
		if field.Name == "key" || strings.HasSuffix(field.Name, "_id") {
			return textOf(field.Value)
		}
	}
	for _, field := range object {
		if name := nameOf(field.Value); name != "" {
			return name
		}
	}
	return ""
}

func (p *Printer) json(value any) error {
	encoded, err := marshalJSON(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "%s\n", encoded)
	return err
}

func (p *Printer) yaml(value any) error {
	encoder := yaml.NewEncoder(p.Out)
	encoder.SetIndent(2)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return encoder.Close()
}

// Page is a result laid out for people. An empty line separates its parts.
type Page struct {
	out       io.Writer
	noHeaders bool
	begun     bool
	err       error
}

// Line writes a text on one line; line breaks in it are escaped.
func (g *Page) Line(text string) { g.print(Visible(text) + "\n") }

// Text writes a text of any number of lines.
func (g *Page) Text(text string) {
	g.part()
	for line := range strings.Lines(text) {
		g.Line(strings.TrimRight(line, "\r\n"))
	}
}

// Record writes one thing, with a line for each heading and the text that belongs to it.
func (g *Page) Record(heads, cells []string) {
	g.part()
	rows := &table{out: g.out}
	for i, head := range heads {
		line := []string{head, cells[i]}
		if g.noHeaders {
			line = line[1:]
		}
		g.keep(rows.add(line...))
	}
	g.keep(rows.flush())
}

// Rows writes things as a table: the headings, and the cells of each item. It writes nothing if there are none.
func Rows[T any](g *Page, heads []string, items []T, cells func(T) []string) {
	if len(items) == 0 {
		return
	}
	g.part()
	rows := &table{out: g.out}
	if !g.noHeaders {
		g.keep(rows.add(heads...))
	}
	for _, item := range items {
		g.keep(rows.add(cells(item)...))
	}
	g.keep(rows.flush())
}

func (g *Page) part() {
	if g.begun {
		g.print("\n")
	}
	g.begun = true
}

func (g *Page) print(text string) {
	if g.err == nil {
		_, g.err = io.WriteString(g.out, text)
	}
}

func (g *Page) keep(err error) {
	if g.err == nil {
		g.err = err
	}
}
