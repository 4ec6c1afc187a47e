// Package report prints what was measured, as tables of Markdown that are readable as
// they are.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Spread is what several rounds showed.
type Spread []float64

// Median is the middle of the rounds.
func (s Spread) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// String is the median and, in brackets, the lowest and the highest round.
func (s Spread) String() string {
	if len(s) == 0 {
		return "–"
	}
	if len(s) == 1 {
		return Number(s.Median())
	}
	return fmt.Sprintf("%s (%s–%s)", Number(s.Median()), Number(slices.Min(s)), Number(slices.Max(s)))
}

// Number is a figure with three digits that count.
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

// Duration is a time in the unit that suits it.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return Number(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return Number(float64(d.Nanoseconds())/1e6) + " ms"
	}
	return Number(float64(d.Nanoseconds())/1e3) + " µs"
}

// Table is a table with a title. The first row is its head.
type Table struct {
	Title string
	Rows  [][]string
	// Notes are printed below.
	Notes []string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Print writes the table.
func (t *Table) Print(out io.Writer) {
	fmt.Fprintf(out, "\n### %s\n\n", t.Title)
	widths := make([]int, len(t.Rows[0]))
	for _, row := range t.Rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range t.Rows {
		printRow(out, row, widths)
		if n == 0 {
			rule := make([]string, len(row))
			for i := range rule {
				rule[i] = strings.Repeat("-", widths[i])
			}
			printRow(out, rule, widths)
		}
	}
	for _, note := range t.Notes {
		fmt.Fprintf(out, "\n%s\n", note)
	}
}

func printRow(out io.Writer, cells []string, widths []int) {
	fmt.Fprint(out, "|")
	for i, cell := range cells {
		fmt.Fprintf(out, " %s%s |", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
	}
	fmt.Fprintln(out)
}

// Target is something that is aimed at.
type Target struct {
	What, Limit, Figure string
	Met                 bool
}

// PrintTargets tells which targets were met.
func PrintTargets(out io.Writer, targets []Target) {
	table := Table{Title: "Targets", Rows: [][]string{{"target", "limit", "measured", ""}}}
	for _, target := range targets {
		table.Add(target.What, target.Limit, target.Figure, map[bool]string{true: "met", false: "NOT MET"}[target.Met])
	}
	table.Print(out)
}
