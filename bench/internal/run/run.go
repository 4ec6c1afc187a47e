// Package run does the work of bench. It runs Waybook's programs, and the programs to compare
// them with, as separate processes. It sends load to them in turn and prints tables.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/bench/internal/report"
)

// Settings configure a run.
type Settings struct {
	// Rounds is the number of rounds. Each contender takes one turn of Duration per round.
	Rounds   int
	Duration time.Duration
	// What are the sections to run.
	What []string
	// Cases are the cases to run in the sections that compare.
	Cases []string
	// Documents is the number of albums in the largest store.
	Documents int
	// Beside, unless empty, is the source tree of another version, which the sections that compare
	// measure beside this one, and nothing else.
	Beside string
	// Command, for the tables, is the command that runs bench.
	Command string
}

// bench is a run in progress.
type bench struct {
	settings Settings
	// workshop has the programs of this version, beside those of settings.Beside.
	workshop, beside *workshop
	// out receives the tables and told the progress messages.
	out, told io.Writer
	// origin is the line above each table.
	origin string
}

// section is a part of a run.
type section struct {
	name, what string
	run        func(*bench, context.Context, *workshop) error
}

// sections returns all sections in the order in which they run.
func sections() []section {
	return []section{
		{"standalone", "Waybook in one process, against grpc-gateway, gRPC and the baselines",
			func(b *bench, ctx context.Context, w *workshop) error {
				return b.compare(ctx, w, startStandalone)
			}},
		{"processes", "the same with each service in its own process",
			func(b *bench, ctx context.Context, w *workshop) error {
				return b.compare(ctx, w, startProcesses)
			}},
		{"writers", "durable writes by one and by 64 clients", (*bench).writers},
		{"growth", "what an addAlbum costs and writes in stores of different sizes", (*bench).growth},
	}
}

// Sections returns the names of all sections, and a help text.
func Sections() (names []string, help string) {
	for _, each := range sections() {
		names = append(names, each.name)
		help += fmt.Sprintf("\n%-11s %s", each.name, each.what)
	}
	return names, help
}

// Run runs the measurements. It writes tables to out and progress messages to told. The stores are
// in the directory for temporary files, whose disk is measured.
func Run(ctx context.Context, s Settings, out, told io.Writer) (err error) {
	b := &bench{settings: s, out: out, told: told, origin: origin(ctx, s.Command)}
	b.progress("build the programs")
	if b.workshop, err = newWorkshop(ctx, "", append(shipped(), rivalProgram)...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.workshop.close()) }()
	if s.Beside != "" {
		if b.beside, err = newWorkshop(ctx, s.Beside, shipped()...); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.beside.close()) }()
	}
	for _, each := range sections() {
		if !slices.Contains(s.What, each.name) {
			continue
		}
		b.progress("%s: %s", each.name, each.what)
		w := b.workshop.within()
		if err := errors.Join(each.run(b, ctx, w), w.close()); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
	}
	return nil
}

// print writes a table with its origin.
func (b *bench) print(table *report.Table) error { return table.Print(b.out, b.origin) }

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.told, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// inTurns measures what rows are for in the order A B C, C B A, A B C and so on, so that changes
// of the machine affect all of them equally.
func (b *bench) inTurns(rows []*report.Row, measure func(i int, to *report.Row) error) error {
	for round := range b.settings.Rounds {
		for i := range rows {
			if round%2 == 1 {
				i = len(rows) - 1 - i
			}
			if err := measure(i, rows[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// origin returns a line with the facts on which the figures of a run depend.
func origin(ctx context.Context, command string) string {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return fmt.Sprintf("`%s` at commit %s, %s, on %d cores (%s), %s",
		command, strings.TrimSpace(string(commit)), time.Now().Format(time.DateOnly), runtime.NumCPU(), processor(),
		runtime.Version())
}

// processor returns the name of the machine's processor.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // without it the name is unknown
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.Trim(name, "\t :\n")
		}
	}
	return "unknown"
}
