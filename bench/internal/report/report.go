// Package report collects the figures of a run, round by round, and prints them as Markdown
// tables that are also readable as plain text.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table has a row for each thing that is measured, and a column for each figure of it.
type Table struct {
	title string
	// keys are the headers of the columns that name a row.
	keys, columns []string
	rows          []*Row
}

// Row is the figures of one thing.
type Row struct {
	table *Table
	names []string
	// rounds are the figures of each column, one for each round.
	rounds map[string][]float64
}

// New returns an empty table. keys are the headers of the columns that name a row.
func New(title string, keys ...string) *Table { return &Table{title: title, keys: keys} }

// Row adds a row. It has a name for each key of the table.
func (t *Table) Row(names ...string) *Row {
	row := &Row{table: t, names: names, rounds: map[string][]float64{}}
	t.rows = append(t.rows, row)
	return row
}

// Rows adds rows of one name each.
func (t *Table) Rows(names ...string) (rows []*Row) {
	for _, name := range names {
		rows = append(rows, t.Row(name))
	}
	return rows
}

// Add adds the figure of a round. Columns are in the order in which they first get one.
func (r *Row) Add(column string, figure float64) {
	if !slices.Contains(r.table.columns, column) {
		r.table.columns = append(r.table.columns, column)
	}
	r.rounds[column] = append(r.rounds[column], figure)
}

// AddRatio fills a column with the figures of another column over those of a base, round by round.
func (r *Row) AddRatio(column, of string, base *Row) {
	for i, figure := range r.rounds[of] {
		r.Add(column, figure/base.rounds[of][i])
	}
}

// Median returns the median of a column, or 0 if it is empty.
func (r *Row) Median(column string) float64 { return median(r.rounds[column]) }

func median(figures []float64) float64 {
	if len(figures) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// spread returns the median and, in parentheses, the lowest and the highest round.
func spread(figures []float64) string {
	switch len(figures) {
	case 0:
		return "–"
	case 1:
		return Number(figures[0])
	}
	return fmt.Sprintf("%s (%s–%s)", Number(median(figures)), Number(slices.Min(figures)), Number(slices.Max(figures)))
}

// Number formats a number with three significant digits, or without decimals from 1,000.
func Number(n float64) string {
	switch {
	case n == 0:
		return "0"
	case n >= 1000 || n <= -1000:
		digits := fmt.Sprintf("%.0f", n)
		for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
			digits = digits[:at] + "," + digits[at:]
		}
		return digits
	case n >= 100:
		return fmt.Sprintf("%.0f", n)
	case n >= 10:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2f", n)
}

// Print writes the table. origin is a line about where its figures come from.
func (t *Table) Print(out io.Writer, origin string) error {
	cells := [][]string{slices.Concat(t.keys, t.columns)}
	for _, row := range t.rows {
		line := slices.Clone(row.names)
		for _, column := range t.columns {
			line = append(line, spread(row.rounds[column]))
		}
		cells = append(cells, line)
	}
	_, err := fmt.Fprintf(out, "\n### %s\n\n%s\n\n%s", t.title, origin, markdown(cells))
	return err
}

// markdown returns an aligned Markdown table. The first row is the header.
func markdown(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(widths))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width)
	}
	var text strings.Builder
	for _, row := range slices.Insert(slices.Clone(rows), 1, rule) {
		text.WriteString("|")
		for i, cell := range row {
			fmt.Fprintf(&text, " %s%s |", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		text.WriteString("\n")
	}
	return text.String()
}
