// Package report prints results as Markdown tables that are also readable as plain text.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Spread is the results of several rounds.
type Spread []float64

// Median returns the median of the rounds.
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

// String returns the median and, in parentheses, the lowest and the highest round.
func (s Spread) String() string {
	if len(s) == 0 {
		return "–"
	}
	if len(s) == 1 {
		return Number(s.Median())
	}
	return fmt.Sprintf("%s (%s–%s)", Number(s.Median()), Number(slices.Min(s)), Number(slices.Max(s)))
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

// Duration formats a duration in seconds, milliseconds or microseconds.
func Duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return Number(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return Number(float64(d.Nanoseconds())/1e6) + " ms"
	}
	return Number(float64(d.Nanoseconds())/1e3) + " µs"
}

// Table is a table with a title. Its first row is the header.
type Table struct {
	Title string
	Rows  [][]string
	// Notes are printed below the table.
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

// Target is a target of the measurements and its result.
type Target struct {
	What, Limit, Figure string
	Met                 bool
}

// PrintTargets prints a table that shows which targets were met.
func PrintTargets(out io.Writer, targets []Target) {
	table := Table{Title: "Targets", Rows: [][]string{{"target", "limit", "measured", ""}}}
	for _, target := range targets {
		table.Add(target.What, target.Limit, target.Figure, map[bool]string{true: "met", false: "NOT MET"}[target.Met])
	}
	table.Print(out)
}
