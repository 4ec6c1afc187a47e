package run

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/waybook/waybook/bench/internal/report"
)

// suite is a set of Go benchmarks.
type suite struct {
	title    string
	packages []string
	pattern  string
	// time is the value of -benchtime.
	time string
	args []string
}

func (b *bench) suites() []suite {
	seconds := fmt.Sprint(b.settings.Duration)
	sizes := fmt.Sprintf("-documents=%d,%d,%d", smallStore, b.settings.Documents/10, b.settings.Documents)
	return []suite{
		{"The edge's own work", []string{module + "edge/form", module + "edge/operation", module + "edge"}, ".", seconds, nil},
		{"Store engine: operations", []string{module + "internal/docstore/embedded"}, "Operations|Sync", seconds, []string{sizes}},
		{"Store engine: a walk over all documents, on one core", []string{module + "internal/docstore/embedded"}, "Walk", "3x",
			[]string{"-cpu=1", fmt.Sprintf("-documents=%d", b.settings.Documents)}},
		{"Documents to BSON and back", []string{module + "internal/docstore"}, ".", seconds, nil},
		{"Names through the cache", []string{module + "internal/content/profiles"}, ".", seconds, nil},
		{"Identifiers", []string{module + "internal/id"}, ".", seconds, nil},
	}
}

// code runs the Go benchmarks of the packages.
func (b *bench) code(ctx context.Context) error {
	for _, each := range b.suites() {
		lines, err := b.goTest(ctx, each)
		if err != nil {
			return err
		}
		table := report.Table{Title: each.title, Rows: [][]string{{"benchmark", "ns/op", "B/op", "allocs/op", "others"}}}
		for _, line := range lines {
			table.Add(line.name, line.figures["ns/op"].String(), report.Number(line.figures["B/op"].Median()),
				report.Number(line.figures["allocs/op"].Median()), line.others())
			b.judgeCode(line)
		}
		table.Print(b.out)
		b.judgeSizes(lines)
	}
	return nil
}

func (b *bench) judgeCode(line benchmark) {
	ns, allocations := line.figures["ns/op"].Median(), line.figures["allocs/op"].Median()
	switch {
	case line.name == "FormToXML":
		b.target(ns < 3000 && allocations <= 5, fmt.Sprintf("%s µs, %s allocations", report.Number(ns/1e3), report.Number(allocations)),
			"< 3 µs, ≤ 5", "form to XML without the call")
		if b.directCall > 0 {
			b.target(ns < b.directCall, fmt.Sprintf("%s µs against %s µs", report.Number(ns/1e3), report.Number(b.directCall/1e3)),
				"less", "CPU of the edge's own work (parse, map, render) against that of a bare gRPC call of getAlbum, both of its ends")
		}
	case strings.HasPrefix(line.name, "Walk"):
		rate := line.figures["items/s"].Median()
		b.target(rate >= 1e6, report.Number(rate)+"/s", "≥ 1,000,000/s", "%s: documents from the embedded store on one core", line.name)
	}
}

// judgeSizes compares the time of the engine's reads in the largest store with that in the
// smallest one.
func (b *bench) judgeSizes(lines []benchmark) {
	for _, read := range []string{"/PointRead", "/PointReadOfFew", "/PageReadOf100", "/PageReadOf100OfFew"} {
		var sizes []benchmark // the smallest first
		for _, line := range lines {
			if strings.HasSuffix(line.name, read) {
				sizes = append(sizes, line)
			}
		}
		if len(sizes) < 2 {
			continue
		}
		small, large := sizes[0], sizes[len(sizes)-1]
		dearer := large.figures["ns/op"].Median() / small.figures["ns/op"].Median()
		b.target(dearer <= 1.2, report.Number(dearer)+"×", "≤ 1.2×", "engine alone: %s over %s", large.name, small.name)
	}
}

// benchmark is the results of one Go benchmark, over all runs.
type benchmark struct {
	name    string
	figures map[string]report.Spread
}

// others returns the figures that have no column of their own.
func (l benchmark) others() string {
	var all []string
	for unit, figures := range l.figures {
		if unit != "ns/op" && unit != "B/op" && unit != "allocs/op" {
			all = append(all, figures.String()+" "+unit)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func (b *bench) goTest(ctx context.Context, s suite) ([]benchmark, error) {
	args := []string{"test", "-run=^$", "-bench=" + s.pattern, "-benchmem", "-benchtime=" + s.time,
		fmt.Sprintf("-count=%d", b.settings.Rounds), "-timeout=2h"}
	command := exec.CommandContext(ctx, "go", slices.Concat(args, s.packages, s.args)...)
	// The benchmarks create their stores on the measured disk.
	command.Env = append(os.Environ(), "TMPDIR="+b.workshop.directory)
	output, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	lines := parseBenchmarks(output)
	if len(lines) == 0 {
		return nil, fmt.Errorf("go %s ran no benchmarks\n%s", strings.Join(args, " "), output)
	}
	return lines, nil
}

// parseBenchmarks parses the output of go test. Each line of a benchmark has its name, the
// number of iterations, and pairs of a figure and its unit.
func parseBenchmarks(output []byte) (lines []benchmark) {
	for line := range bytes.Lines(output) {
		words := strings.Fields(string(line))
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if dash := strings.LastIndexByte(name, '-'); dash > 0 { // -GOMAXPROCS
			name = name[:dash]
		}
		at := slices.IndexFunc(lines, func(l benchmark) bool { return l.name == name })
		if at < 0 {
			at = len(lines)
			lines = append(lines, benchmark{name, map[string]report.Spread{}})
		}
		for i := 2; i+1 < len(words); i += 2 {
			if figure, err := strconv.ParseFloat(words[i], 64); err == nil {
				lines[at].figures[words[i+1]] = append(lines[at].figures[words[i+1]], figure)
			}
		}
	}
	return lines
}
