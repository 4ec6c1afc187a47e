package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	"github.com/waybook/waybook/bench/internal/rival"
)

// tail measures latencies at half of what the edge can do: of the edge, of one with settings for the
// slowest requests, and of a handler that computes as long and makes no garbage. The latency of that
// handler comes from net/http, the load generator, the kernel and the machine.
func (b *bench) tail(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	data, filled, err := w.filledStore(ctx, 0)
	if err != nil {
		return err
	}
	copied, err := w.copied(data)
	if err != nil {
		return err
	}
	standalone, err := standaloneOn(w, data, filled, nil)
	if err != nil {
		return err
	}
	processors, growth := fmt.Sprintf("GOMAXPROCS=%d", 2*runtime.NumCPU()), "GOGC=2000"
	patient, err := standaloneOn(w, copied, filled, []string{processors, growth})
	if err != nil {
		return err
	}
	patient.name += ", " + processors + " " + growth
	if err := b.tailOf(ctx, w, standalone, patient); err != nil {
		return err
	}
	apart, err := startProcesses(ctx, w, 0)
	if err != nil {
		return err
	}
	return b.tailOf(ctx, w, apart)
}

// tailOf compares deployments that have the same content. The first one sets the rate and the work of the
// handler.
func (b *bench) tailOf(ctx context.Context, w *workshop, deployments ...*deployment) error {
	first := deployments[0]
	c := caseNamed(first.content, fullAlbum)
	answer, err := first.ask(ctx, c)
	if err != nil {
		return err
	}
	baselines, err := startBaselines(w, []rival.Answer{answer})
	if err != nil {
		return err
	}
	idle := toBaseline(c, baselines)
	edge, least := report.New("").Row(), report.New("").Row()
	if err := b.inTurns([]*report.Row{edge, least}, func(i int, to *report.Row) error {
		_, err := []contender{first.toEdge(c), idle}[i].closed(ctx, c.connections, b.settings.Duration, to)
		return err
	}); err != nil {
		return err
	}
	busy, err := b.asBusy(ctx, c, baselines, least.Median(serverCPU), edge.Median(serverCPU))
	if err != nil {
		return err
	}
	all, names := []contender{busy}, []string{busy.name}
	for _, d := range deployments {
		all, names = append(all, d.toEdge(c)), append(names, d.name)
	}
	table := report.New("Latency at half of what the edge can do, "+first.name+", "+c.name, "contender")
	rows := table.Rows(names...)
	err = b.inTurns(rows, func(i int, to *report.Row) error {
		if err := all[i].atRate(ctx, edge.Median(repliesPerSecond)/2, b.settings.Duration, to); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		return addMemory(to, all[i].serves[0])
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		row.AddRatio("p99, ratio", p99, rows[0])
	}
	table.Note("A ratio is of the turns of one round, over the handler that computes as long. Latencies count from the time when a " +
		"request was due, so the lateness of the load generator is part of them. The memory is that of the process in front.")
	return b.print(table)
}

// asBusy returns the HTTP baseline with additional work, so that a reply costs as many µs of CPU time as one
// of the edge. idle is what it costs without.
func (b *bench) asBusy(ctx context.Context, c testCase, baselines *process.Process, idle, edge float64) (contender, error) {
	with := func(work float64) contender {
		path := rival.BusyPath(c.name, time.Duration(work*float64(time.Microsecond)))
		return contender{"a handler that computes as long", opener(baselines.Addresses["http"], get11(path), wantXML), []*process.Process{baselines}}
	}
	work := max(0, edge-idle)
	trial := report.New("").Row()
	if _, err := with(work).closed(ctx, c.connections, b.settings.Duration, trial); err != nil {
		return contender{}, err
	}
	// The baseline calibrated its microseconds when nothing else ran.
	if took := trial.Median(serverCPU) - idle; took > 0 {
		work *= work / took
	}
	return with(work), nil
}

// manyWriters is the number of concurrent writers.
const manyWriters = 64

// writers compares the throughput of one writer with that of many, whose writes share commits.
func (b *bench) writers(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	d, err := startStandalone(ctx, w, 0)
	if err != nil {
		return err
	}
	edge := d.toEdge(caseNamed(d.content, "addAlbum"))
	table := report.New("addAlbum, durable when it is answered, "+d.name, "clients")
	clients := []int{1, manyWriters}
	rows := table.Rows("1", fmt.Sprint(manyWriters))
	err = b.inTurns(rows, func(i int, to *report.Row) error {
		if _, err := edge.closed(ctx, clients[i], b.settings.Duration, to); err != nil {
			return err
		}
		return addMemory(to, d.edge)
	})
	if err != nil {
		return err
	}
	rows[1].AddRatio("ratio", repliesPerSecond, rows[0])
	return b.print(table)
}
