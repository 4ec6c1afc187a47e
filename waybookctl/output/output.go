// Package output prints results: as aligned tables for people, as JSON and YAML for programs.
// Results go to standard output. Notes go to standard error.
package output

import (
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Format is the format of results.
type Format string

// The formats.
const (
	Table Format = "table"
	JSON  Format = "json"
	YAML  Format = "yaml"
)

// Printer prints results in one format.
type Printer struct {
	Format Format
	Out    io.Writer
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
	page := &Page{out: p.Out}
	layout(page)
	return page.err
}

// Tagged prints a value that has json tags. In the table format, layout writes it.
func (p *Printer) Tagged(value any, layout func(*Page)) error {
	fields, err := FromJSON(value)
	if err != nil {
		return err
	}
	return p.Value(fields, layout)
}

func (p *Printer) json(value any) error {
	encoded, err := marshalJSON(value, "")
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
	out   io.Writer
	begun bool
	err   error
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

// Record writes one thing, with a line for each column.
func Record[T any](g *Page, columns []Column[T], item T) {
	g.part()
	rows := &table{out: g.out}
	for _, column := range columns {
		g.keep(rows.add(column.Head, column.Cell(item)))
	}
	g.keep(rows.flush())
}

// Rows writes things as a table. It writes nothing if there are none.
func Rows[T any](g *Page, columns []Column[T], items []T) {
	if len(items) == 0 {
		return
	}
	g.part()
	rows := &table{out: g.out}
	g.keep(rows.add(headsOf(columns)...))
	for _, item := range items {
		g.keep(rows.add(cellsOf(columns, item)...))
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
