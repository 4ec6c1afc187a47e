// Package run does the work of bench. It runs Waybook's programs, and the programs to compare
// them with, as separate processes. It sends load to them in turn and prints tables.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	// Cases, unless empty, are the cases to run in the sections that compare.
	Cases []string
	// Documents is the number of landmarks in a large store. Listed is the number of
	// landmarks in the list that every contender returns.
	Documents, Listed int
	// Data is the directory for the stores. Its disk is measured.
	Data string
	// Earlier is the source tree with which section earlier compares this one.
	Earlier string
	// Profiles is the directory to which section profile writes.
	Profiles string
}

// bench is a run in progress.
type bench struct {
	settings Settings
	workshop *workshop
	// out receives the tables and told the progress messages.
	out, told io.Writer
	targets   []report.Target
	// directCall is the CPU time of client and server for the gRPC baseline of getAlbum, in
	// ns.
	directCall float64
}

// section is a part of a run.
type section struct {
	name, what string
	run        func(*bench, context.Context) error
}

// sections returns all sections in the order in which they run.
func sections() []section {
	return []section{
		{"standalone", "Waybook in one process, against grpc-gateway, gRPC and the baselines", func(b *bench, ctx context.Context) error {
			return b.compare(ctx, func(ctx context.Context, w *workshop) (*deployment, error) {
				return startStandalone(ctx, w, b.settings.Listed)
			}, b.settings.Cases)
		}},
		{"processes", "the same with each service in its own process", func(b *bench, ctx context.Context) error {
			return b.compare(ctx, func(ctx context.Context, w *workshop) (*deployment, error) {
				return startProcesses(ctx, w, nil, b.settings.Listed)
			}, b.settings.Cases)
		}},
		{"tls", "the same as processes with mutual TLS, for one case", func(b *bench, ctx context.Context) error {
			return b.compare(ctx, func(ctx context.Context, w *workshop) (*deployment, error) {
				made, err := newCertificates(w.directory)
				if err != nil {
					return nil, err
				}
				return startProcesses(ctx, w, made, 0)
			}, []string{fullAlbum})
		}},
		{"tail", "the p99 of standalone, with other settings of the garbage collector", (*bench).tail},
		{"writers", "durable writes by one and by 64 clients", (*bench).writers},
		{"large", "a large store: start, memory, a long list, reads", (*bench).large},
		{"changes", "feeds of changes: a walk over a large store, the cost to writers, the lag", (*bench).changes},
		{"mongodb", "requests one after the other, embedded and over MongoDB's protocol, at a distance of 1 ms", (*bench).mongodb},
		{"hot", "recommendations and comments on one album, over a store at a distance of 1 ms", (*bench).hot},
		{"shadow", "standalone with and without -shadow", (*bench).shadow},
		{"earlier", "the edge beside that of the source tree -earlier, in one process and in separate ones", (*bench).earlier},
		{"code", "the Go benchmarks of the packages: store engine, edge, names, ids", (*bench).code},
		{"profile", "CPU profiles under three loads, written to -profiles", (*bench).profile},
	}
}

// Sections returns the names of all sections and a help text about them.
func Sections() (names []string, help string) {
	for _, each := range sections() {
		names = append(names, each.name)
		help += fmt.Sprintf("\n%-11s %s", each.name, each.what)
	}
	return names, help
}

// Run runs the measurements. It writes tables to out and progress messages to told.
func Run(ctx context.Context, s Settings, out, told io.Writer) (err error) {
	b := &bench{settings: s, out: out, told: told}
	b.progress("build the programs")
	if b.workshop, err = newWorkshop(ctx, "", s.Data, programs()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.workshop.close()) }()
	describeMachine(ctx, out, s)
	for _, each := range sections() {
		if !slices.Contains(s.What, each.name) {
			continue
		}
		b.progress("%s: %s", each.name, each.what)
		if err := each.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
	}
	if len(b.targets) > 0 {
		report.PrintTargets(out, b.targets)
	}
	return nil
}

// target records whether a target was met.
func (b *bench) target(met bool, figure, limit, what string, args ...any) {
	b.targets = append(b.targets, report.Target{What: fmt.Sprintf(what, args...), Limit: limit, Figure: figure, Met: met})
}

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.told, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
