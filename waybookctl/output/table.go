package output

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
	"google.golang.org/protobuf/proto"
)

// gap separates two columns.
const gap = "  "

// measuredRows is how many rows a table measures before it prints the first. The column widths are
// fixed from then on, so a list of any length needs little memory.
const measuredRows = 1000

// wide measures text as terminals show it, in every locale: Chinese characters take two columns,
// combining marks none.
var wide = runewidth.Condition{StrictEmojiNeutral: true}

// width returns how many terminal columns a text takes.
func width(text string) int { return wide.StringWidth(text) }

// table writes rows as aligned columns, each row on one line of any length.
type table struct {
	out    io.Writer
	rows   [][]string
	widths []int
	begun  bool
}

// add adds a row; the first is the heading.
func (t *table) add(cells ...string) error {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Visible(cell)
	}
	if t.begun {
		return t.write(row)
	}
	t.rows = append(t.rows, row)
	if len(t.rows) > measuredRows {
		return t.flush()
	}
	return nil
}

// flush prints the rows that have been measured.
func (t *table) flush() error {
	t.begun = true
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}
			t.widths[i] = max(t.widths[i], width(cell))
		}
	}
	for _, row := range t.rows {
		if err := t.write(row); err != nil {
			return err
		}
	}
	t.rows = nil
	return nil
}

func (t *table) write(row []string) error {
	var line strings.Builder
	for i, cell := range row {
		line.WriteString(cell)
		if i < len(row)-1 {
			line.WriteString(strings.Repeat(" ", max(0, t.widths[i]-width(cell))) + gap)
		}
	}
	_, err := io.WriteString(t.out, strings.TrimRight(line.String(), " ")+"\n")
	return err
}

// Visible escapes characters that move the cursor, change colours or reverse the direction of
// text. Users write these texts, and a terminal obeys such characters.
func Visible(text string) string {
	if !strings.ContainsFunc(text, isHidden) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case !isHidden(r):
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	return out.String()
}

// isHidden reports whether a character is invisible. The joiner that combines emoji is harmless,
// as are the blanks of other scripts.
func isHidden(r rune) bool {
	return !unicode.IsGraphic(r) && r != '\u200d'
}

// Items prints a list item by item: a JSON array or a table. If the items end with an error, the
// JSON stays incomplete, so that no program takes it for the whole list. kind is the plural name
// of the items, for the note that there are none.
func Items[T proto.Message](p *Printer, kind string, heads []string, items iter.Seq2[T, error],
	cells func(T) []string) error {
	rows := &table{out: p.Out}
	count := 0
	for item, err := range items {
		if err != nil {
			return err
		}
		if p.Format == JSON {
			err = p.jsonItem(FromProto(item), count)
		} else {
			if count == 0 {
				err = rows.add(heads...)
			}
			err = errors.Join(err, rows.add(cells(item)...))
		}
		if err != nil {
			return err
		}
		count++
	}
	if count == 0 {
		p.Note("no %s", kind)
	}
	if p.Format != JSON {
		return rows.flush()
	}
	end := "\n]\n"
	if count == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(p.Out, end)
	return err
}

// jsonItem writes an item of an array, and what separates it from those before it.
func (p *Printer) jsonItem(item Object, before int) error {
	encoded, err := marshalJSON(item, "  ", "  ")
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
