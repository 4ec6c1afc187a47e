// Package run is what bench does: it runs Waybook's programs and those to compare them
// with as processes of their own, takes turns in asking them, and prints tables.
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

// Settings say how much is measured.
type Settings struct {
	// Rounds is how often contenders take turns, each time for Duration.
	Rounds   int
	Duration time.Duration
	// What are the sections to run.
	What []string
	// Cases, unless empty, are the cases to run in the sections that compare.
	Cases []string
	// Documents is how many there are in a large store, and Listed in the list that
	// every contender answers.
	Documents, Listed int
	// Data is where stores are made; the disk there is measured.
	Data string
	// Profiles, unless empty, is where section profile writes.
	Profiles string
}

// bench is a run under way.
type bench struct {
	settings Settings
	workshop *workshop
	// out gets the tables and told what happens meanwhile.
	out, told io.Writer
	targets   []report.Target
	// directCall is the CPU time of both ends of a bare gRPC call of getAlbum, in ns.
	directCall float64
}

// section is a part of a run.
type section struct {
	name, what string
	run        func(*bench, context.Context) error
}

// sections are all there are, in the order in which they run.
func sections() []section {
	return []section{
		{"standalone", "all in one process, against grpc-gateway, gRPC and the floors", func(b *bench, ctx context.Context) error {
			return b.compare(ctx, func(ctx context.Context, w *workshop) (*deployment, error) {
				return startStandalone(ctx, w, b.settings.Listed)
			}, b.settings.Cases)
		}},
		{"processes", "the same with each service as a process", func(b *bench, ctx context.Context) error {
			return b.compare(ctx, func(ctx context.Context, w *workshop) (*deployment, error) {
				return startProcesses(ctx, w, nil, b.settings.Listed)
			}, b.settings.Cases)
		}},
		{"tls", "processes with mutual TLS, one case", func(b *bench, ctx context.Context) error {
			return b.compare(ctx, func(ctx context.Context, w *workshop) (*deployment, error) {
				made, err := newCertificates(w.directory)
				if err != nil {
					return nil, err
				}
				return startProcesses(ctx, w, made, 0)
			}, []string{fullAlbum})
		}},
		{"writers", "durable writes by one and by 64 clients", (*bench).writers},
		{"large", "a large store: start, memory, one long list, reads", (*bench).large},
		{"code", "Go benchmarks beside the code: store engine, edge, names, identifiers", (*bench).code},
		{"profile", "CPU profiles of three loads, written to -profiles", (*bench).profile},
	}
}

// Sections tells what the sections are.
func Sections() (names []string, help string) {
	for _, each := range sections() {
		names = append(names, each.name)
		help += fmt.Sprintf("\n%-11s %s", each.name, each.what)
	}
	return names, help
}

// Run measures. Tables go to out, and what happens meanwhile is told.
func Run(ctx context.Context, s Settings, out, told io.Writer) (err error) {
	b := &bench{settings: s, out: out, told: told}
	b.progress("building the programs")
	if b.workshop, err = newWorkshop(ctx, s.Data, programs()); err != nil {
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

// target notes whether something that is aimed at was reached.
func (b *bench) target(met bool, figure, limit, what string, args ...any) {
	b.targets = append(b.targets, report.Target{What: fmt.Sprintf(what, args...), Limit: limit, Figure: figure, Met: met})
}

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.told, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
