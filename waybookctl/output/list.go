package output

import (
	"fmt"
	"io"
	"iter"

	"google.golang.org/protobuf/proto"
)

type Column[T any] struct {
	Head string
	Cell func(T) string
}

// Items prints a list item by item: a JSON array, a YAML sequence, or a table. If the items end
// with an error, the JSON stays incomplete, so that no program takes it for the whole list. kind is
// the plural name of the items, for the note that there are none.
func Items[T proto.Message](p *Printer, kind string, columns []Column[T], items iter.Seq2[T, error]) error {
	var list lister[T]
	switch p.Format {
	case JSON:
		list = &jsonList[T]{out: p.Out}
	case YAML:
		list = &yamlList[T]{printer: p}
	default:
		list = &tableList[T]{table: table{out: p.Out}, columns: columns}
	}
	count := 0
	for item, err := range items {
		if err == nil {
			err = list.add(item)
		}
		if err != nil {
			return err
		}
		count++
	}
	if count == 0 {
		p.Note("no %s", kind)
	}
	return list.end()
}

// lister writes a list item by item.
type lister[T any] interface {
	add(T) error
	end() error
}

type jsonList[T proto.Message] struct {
	out   io.Writer
	begun bool
}

func (l *jsonList[T]) add(item T) error {
	encoded, err := marshalJSON(FromProto(item), "  ")
	if err != nil {
		return err
	}
	lead := ",\n  "
	if !l.begun {
		lead, l.begun = "[\n  ", true
	}
	_, err = fmt.Fprintf(l.out, "%s%s", lead, encoded)
	return err
}

func (l *jsonList[T]) end() error {
	tail := "\n]\n"
	if !l.begun {
		tail = "[]\n"
	}
	_, err := io.WriteString(l.out, tail)
	return err
}

type yamlList[T proto.Message] struct {
	printer *Printer
	begun   bool
}

func (l *yamlList[T]) add(item T) error {
	l.begun = true
	return l.printer.yaml(List{FromProto(item)})
}

func (l *yamlList[T]) end() error {
	if l.begun {
		return nil
	}
	_, err := io.WriteString(l.printer.Out, "[]\n")
	return err
}

type tableList[T any] struct {
	table   table
	columns []Column[T]
	begun   bool
}

func (l *tableList[T]) add(item T) error {
	if !l.begun {
		l.begun = true
		heads := make([]string, len(l.columns))
		for i, column := range l.columns {
			heads[i] = column.Head
		}
		if err := l.table.add(heads...); err != nil {
			return err
		}
	}
	cells := make([]string, len(l.columns))
	for i, column := range l.columns {
		cells[i] = column.Cell(item)
	}
	return l.table.add(cells...)
}

func (l *tableList[T]) end() error { return l.table.flush() }
