package output

import (
	"io"
	"strings"
)

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
	list := &tableList[T]{table: table{out: g.out}, columns: columns}
	for _, item := range items {
		g.keep(list.add(item))
	}
	g.keep(list.end())
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
