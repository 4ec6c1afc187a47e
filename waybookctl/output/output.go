// Package output prints results: as aligned tables for people, and as JSON for programs. Results
// go to standard output. Notes go to standard error.
package output

import (
	"fmt"
	"io"
	"strings"
)

type Format string

const (
	Table Format = "table"
	JSON  Format = "json"
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
	if p.Format == JSON {
		encoded, err := marshalJSON(value, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Out, "%s\n", encoded)
		return err
	}
	page := &Page{out: p.Out}
	layout(page)
	return page.err
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

// Record writes one thing, with a line for each heading and the text that belongs to it.
func (g *Page) Record(heads, cells []string) {
	g.part()
	rows := &table{out: g.out}
	for i, head := range heads {
		g.keep(rows.add(head, cells[i]))
	}
	g.keep(rows.flush())
}

// Rows writes things as a table: the headings, and the cells of each item. It writes nothing if
// there are none.
func Rows[T any](g *Page, heads []string, items []T, cells func(T) []string) {
	if len(items) == 0 {
		return
	}
	g.part()
	rows := &table{out: g.out}
	g.keep(rows.add(heads...))
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
