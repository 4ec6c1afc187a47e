package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/waybook/waybook/bench/internal/report"
)

// needs returns the table of what each multiple needs.
func needs() string {
	rows := [][]string{{
		"", "data", "requests/s", "writes/s", "queries/s", "of them to users", "albums shown that ask for names",
		"busy cores of edges", "of services", "shards",
	}}
	for _, u := range units() {
		l := newLoad(u)
		rows = append(rows, []string{
			fmt.Sprintf("%g×", u.factor), terabytes(l.bytes), report.Number(l.requests), report.Number(l.writes),
			report.Number(l.queries + l.broadcasts + l.userQueries), report.Number(l.userQueries), fmt.Sprintf("%.0f %%", 100*u.nameCalls),
			report.Number(l.edgeCores), report.Number(l.serviceCores), fmt.Sprint(l.shards()),
		})
	}
	return report.Markdown(rows)
}

// bounds returns the table of the load as a part of each limit.
func bounds() string {
	header, rows := []string{""}, [][]string{}
	for i, u := range units() {
		header = append(header, fmt.Sprintf("%g×", u.factor))
		for n, bound := range newLoad(u).bounds() {
			if i == 0 {
				rows = append(rows, []string{bound.name})
			}
			rows[n] = append(rows[n], twoDigits(bound.used))
		}
	}
	for n := range rows {
		rows[n] = append(rows[n], fullAt(n))
	}
	return report.Markdown(append([][]string{append(header, "full at")}, rows...))
}

// fullAt returns the multiple at which the n-th part reaches its limit, between those of the table by a
// straight line on logarithmic axes.
func fullAt(n int) string {
	all := units()
	for i := 1; i < len(all); i++ {
		low, high := math.Log(newLoad(all[i-1]).bounds()[n].used), math.Log(newLoad(all[i]).bounds()[n].used)
		if low <= 0 && high > 0 {
			step := math.Log(all[i].factor / all[i-1].factor)
			return fmt.Sprintf("%.0f×", all[i-1].factor*math.Exp(step*-low/(high-low)))
		}
	}
	return "above 1000×"
}

// terabytes formats a number of bytes.
func terabytes(n float64) string {
	if n < 1e12 {
		return fmt.Sprintf("%.3g GB", n/1e9)
	}
	return fmt.Sprintf("%.3g TB", n/1e12)
}

// twoDigits formats a number with two significant digits.
func twoDigits(n float64) string {
	digits := math.Pow(10, 1-math.Floor(math.Log10(n)))
	return strconv.FormatFloat(math.Round(n*digits)/digits, 'f', -1, 64)
}
