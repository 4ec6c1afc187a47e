package output

import (
	"fmt"
	"io"
	"iter"

	"google.golang.org/protobuf/proto"
)

// Column is a column of a table: its heading, and the text of each item in it.
type Column[T any] struct {
	Head string
	Cell func(T) string
}

// Items prints a list item by item: a JSON array, a YAML sequence, or a table. If the items end
// with an error, the JSON stays incomplete, so that no program takes it for the whole list. kind is
// the plural name of the items, for the note that there are none.
func Items[T proto.Message](p *Printer, kind string, columns []Column[T], items iter.Seq2[T, error]) error {
	rows := &tableList[T]{table: table{out: p.Out}, columns: columns}
	count := 0
	for item, err := range items {
		if err != nil {
			return err
		}
		switch p.Format {
		case JSON:
			err = p.jsonItem(FromProto(item), count)
		case YAML:
			err = p.yaml(List{FromProto(item)})
		default:
			err = rows.add(item)
		}
		if err != nil {
			return err
		}
		count++
	}
	if count == 0 {
		p.Note("no %s", kind)
	}
	var err error
	switch {
	case p.Format == JSON && count > 0:
		_, err = io.WriteString(p.Out, "\n]\n")
	case p.Format == JSON, p.Format == YAML && count == 0:
		_, err = io.WriteString(p.Out, "[]\n")
	default:
		err = rows.end() // of a table; YAML has no rows
	}
	return err
}

// jsonItem writes an item of an array, and what separates it from those before it.
func (p *Printer) jsonItem(item Object, before int) error {
	encoded, err := marshalJSON(item, "  ")
	if err != nil {
		return err
	}
	lead := ",\n  "
	if before == 0 {
		lead = "[\n  "
	}
	_, err = fmt.Fprintf(p.Out, "%s%s", lead, encoded)
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
