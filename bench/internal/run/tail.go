package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/bench/internal/content"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
)

// tail measures what a collection of garbage does to the latency of a loaded standalone: with the
// default growth of the heap, with more, and with more of Go's processors than cores. All have copies
// of one store and the same rate, as has a handler that computes as long and makes no garbage.
func (b *bench) tail(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	data, filled, err := w.filledStore(ctx, b.settings.Listed)
	if err != nil {
		return err
	}
	c := caseNamed(filled, fullAlbum)
	contenders, err := tailContenders(w, data, filled, c)
	if err != nil {
		return err
	}
	reply := answered{messages: []proto.Message{c.reply}} // only its HTTP path is measured
	if reply.edge, reply.header, err = fetch(ctx, get("http://"+contenders[0].serves[0].Addresses["edge"]+"/API.php?"+c.form.Encode())); err != nil {
		return err
	}
	baselines, err := startBaselines(w, []testCase{c}, map[string]answered{c.name: reply})
	if err != nil {
		return err
	}
	least := &result{contender: contender{
		byHTTPBaseline, opener(baselines.Addresses["http"], c.baselineRequest(), wantXML), []*process.Process{baselines}, len(reply.edge),
	}}
	warm := append(slices.Clone(contenders), least)
	for at := range turns(b.settings.Rounds, len(warm)) {
		if err := warm[at].closed(ctx, c.connections, b.settings.Duration); err != nil {
			return fmt.Errorf("%s: %w", warm[at].name, err)
		}
	}
	busy, err := b.asBusy(ctx, c, *contenders[0], *least, baselines)
	if err != nil {
		return err
	}
	contenders = append([]*result{&busy}, contenders...)
	half := contenders[1].rate.Median() / 2
	cpu, memory := make([]report.Spread, len(contenders)), make([]report.Spread, len(contenders))
	for at := range turns(b.settings.Rounds, len(contenders)) {
		r := contenders[at]
		before, err := r.serves[0].CPU()
		if err != nil {
			return err
		}
		if err := r.atRate(ctx, half, b.settings.Duration); err != nil {
			return fmt.Errorf("%s at a rate: %w", r.name, err)
		}
		after, err := r.serves[0].CPU()
		if err != nil {
			return err
		}
		used, err := r.serves[0].Memory()
		if err != nil {
			return err
		}
		cpu[at] = append(cpu[at], micros(after-before)/(half*b.settings.Duration.Seconds()))
		memory[at] = append(memory[at], used.Own)
	}
	table := report.Table{
		Title: "The tail at half of what the edge can do, one process, " + c.name,
		Rows: [][]string{{
			"contender", "replies/s at most", "at /s", "CPU µs", "own memory MiB", "p50 ms", "p99 ms", "p99, ratio", "p99.9 ms",
		}},
		Notes: []string{
			"A ratio is of the turns of one round, over the handler that computes as long.",
			standstill(b.settings.Duration).String(),
		},
	}
	for i, r := range contenders {
		table.Add(string(r.name), r.rate.String(), r.rateAsked.String(), cpu[i].String(), memory[i].String(),
			r.p50.String(), r.p99.String(), ratios(r.p99, busy.p99).String(), r.p999.String())
	}
	table.Print(b.out)
	return nil
}

// tailContenders starts standalone on copies of a store, each with other settings, first the defaults.
func tailContenders(w *workshop, data string, filled content.Content, c testCase) (all []*result, err error) {
	more := fmt.Sprintf("GOMAXPROCS=%d", 2*runtime.NumCPU())
	const growth = "-min-heap-growth=256MiB"
	for _, each := range []struct {
		name              contenderName
		environment, args []string
	}{
		{"the defaults", nil, nil},
		{growth, nil, []string{growth}},
		{contenderName(more), []string{more}, nil},
		{contenderName(more + " " + growth), []string{more}, []string{growth}},
	} {
		edge, err := w.onCopy(data, each.environment, each.args...)
		if err != nil {
			return nil, err
		}
		d := deployment{edge: edge, content: filled}
		all = append(all, &result{contender: contender{name: each.name, open: d.opener(c), serves: []*process.Process{edge}}})
	}
	return all, nil
}
