package scale

import (
	"fmt"
	"math"
	"strconv"

	"github.com/waybook/waybook/bench/internal/report"
)

// factors are the multiples of the unit in the tables.
var factors = [...]float64{1, 10, 100, 1000}

// Growth shows what each multiple of the unit needs, and what gives way first.
func Growth(seed uint64) Section {
	var names [len(factors)]Asked
	for i, factor := range factors {
		names[i] = SimulateNames(factor, seed)
	}
	budget := Estimated()
	needs := report.Table{
		Title: "What each multiple needs",
		Rows:  [][]string{{"", "data", "requests/s", "writes/s", "queries/s", "of them to users", "albums shown that ask for names", "busy cores of edges", "of services", "shards"}},
	}
	bounds := report.Table{Title: "What gives way first, as a part of its limit", Rows: [][]string{{"", "1×", "10×", "100×", "1000×", "full at"}}}
	plot := Plot{
		Title: "Parts of the system, as a part of their limits", X: "multiple of a million albums and 100 requests a second", Y: "part of the limit",
		XTicks: []float64{1, 10, 100, 1000}, YTicks: []float64{0.0001, 0.001, 0.01, 0.1, 1, 10, 100}, Limit: 1, LimitLabel: "the limit",
	}
	var rows [][]string
	for i, factor := range factors {
		l := NewLoad(factor, names[i])
		needs.Add(fmt.Sprintf("%g×", factor), bytes(l.Bytes), report.Number(l.Requests), report.Number(l.Writes), report.Number(l.Queries+l.Broadcasts+l.UserQueries),
			report.Number(l.UserQueries), fmt.Sprintf("%.0f %%", 100*names[i].Calls), report.Number(l.EdgeCores), report.Number(l.ServiceCores), fmt.Sprint(l.Shards(budget)))
		for n, bound := range l.Bounds(budget) {
			if i == 0 {
				rows = append(rows, []string{bound.Name})
				plot.Lines = append(plot.Lines, Line{Name: bound.Name})
			}
			rows[n] = append(rows[n], used(bound.Used))
			plot.Lines[n].add(factor, bound.Used)
		}
	}
	for n, row := range rows {
		bounds.Add(append(row, fullAt(plot.Lines[n]))...)
	}
	return Section{Tables: []report.Table{needs, bounds}, Plots: map[string]Plot{"scale-bounds.svg": plot}}
}

// used formats a part of a limit.
func used(part float64) string {
	digits := math.Pow(10, 1-math.Floor(math.Log10(part)))
	return strconv.FormatFloat(math.Round(part*digits)/digits, 'f', -1, 64)
}

// fullAt returns the multiple at which a part reaches its limit, between the simulated ones by a
// straight line in the plot.
func fullAt(line Line) string {
	for i := 1; i < len(line.X); i++ {
		low, high := math.Log(line.Y[i-1]), math.Log(line.Y[i])
		if low <= 0 && high > 0 {
			at := math.Exp(math.Log(line.X[i-1]) + (math.Log(line.X[i])-math.Log(line.X[i-1]))*-low/(high-low))
			return fmt.Sprintf("%.0f×", at)
		}
	}
	return "above 1000×"
}
