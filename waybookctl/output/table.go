package output

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// gap is what is between two columns.
const gap = "  "

// measuredRows is how many rows a table measures before it prints the first. Columns
// keep their widths from then on, so that a list of any length needs little memory.
const measuredRows = 1000

// wide measures text as terminals show it, whatever the environment's locale:
// Chinese characters take two columns, combining marks none.
var wide = runewidth.Condition{StrictEmojiNeutral: true}

// width is how many columns of a terminal a text takes.
func width(text string) int { return wide.StringWidth(text) }

// table writes rows as aligned columns, each row in one line however long it is.
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

// flush prints what has been measured.
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

// Visible writes what would move the cursor, change colours or turn the direction of
// the writing as an escape: texts are others', and a terminal obeys them.
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

// isHidden reports whether a character is not seen. The joiner that makes one emoji
// of several is harmless, and blanks of other scripts are.
func isHidden(r rune) bool {
	return !unicode.IsGraphic(r) && r != '\u200d'
}
