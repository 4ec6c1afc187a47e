package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybook/waybook/bench/internal/report"
)

// starter starts a deployment in a workshop.
type starter func(context.Context, *workshop) (*deployment, error)

// compare runs cases on a deployment and prints the results. names, unless empty, selects
// the cases to run.
func (b *bench) compare(ctx context.Context, start starter, names []string) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	d, err := start(ctx, w)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(cases(d.content), func(c testCase) bool { return len(names) > 0 && !slices.Contains(names, c.name) })
	replies := map[string]answered{}
	for _, c := range list {
		if replies[c.name], err = d.ask(ctx, c); err != nil {
			return err
		}
	}
	baselines, err := startBaselines(w, list, replies)
	if err != nil {
		return err
	}
	table := report.Table{Title: d.name, Rows: [][]string{{
		"case", "contender", "replies/s", "× edge", "CPU µs: servers", "of them in front", "client", "allocs", "KB alloc", "KB reply",
		"at /s", "p50 ms", "p99 ms", "p99.9 ms",
	}}}
	var latencies report.Table
	var late report.Spread
	for _, c := range list {
		contenders, err := d.contenders(w, c, replies[c.name], baselines)
		if err != nil {
			return err
		}
		results, err := contest(ctx, b.settings, contenders, c.connections)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", d.name, c.name, err)
		}
		edge := results[0].rate.Median()
		for _, r := range results {
			table.Add(c.name, string(r.name), r.rate.String(), report.Number(r.rate.Median()/edge),
				r.serverCPU.String(), report.Number(r.frontCPU.Median()), report.Number(r.clientCPU.Median()),
				report.Number(r.allocations.Median()), report.Number(r.allocatedBytes.Median()/1e3), report.Number(float64(r.replyBytes)/1e3),
				r.rateAsked.String(), r.p50.String(), r.p99.String(), r.p999.String())
			if len(r.lateness) > 0 {
				late = append(late, r.lateness.Median())
			}
		}
		b.judge(d, c, results)
		if c.name == fullAlbum {
			if latencies, err = b.latencies(ctx, d, c, results, baselines); err != nil {
				return fmt.Errorf("%s, latencies: %w", d.name, err)
			}
		}
		b.progress("%s, %s: the edge serves %s replies/s", d.name, c.name, results[0].rate)
	}
	table.Notes = []string{"Latencies count from the time when a request was due. They include the lateness of the load generator, which had a median of " +
		late.String() + " ms."}
	table.Print(b.out)
	if latencies.Title != "" {
		latencies.Print(b.out)
	}
	return nil
}

// judge compares the results of one case with the targets that apply to it.
func (b *bench) judge(d *deployment, c testCase, results []result) {
	by := map[contenderName]result{}
	for _, r := range results {
		by[r.name] = r
	}
	edge, gateway, direct := by[byEdge], by[byGateway], by[byRPC]
	ratio := func(a, b report.Spread) float64 { return a.Median() / b.Median() }
	if c.name == bareAlbum || c.name == fullAlbum {
		faster := ratio(edge.rate, gateway.rate)
		b.target(faster >= 1.5, report.Number(faster)+"×", "≥ 1.5×", "%s, %s: the edge's replies/s over grpc-gateway's", d.name, c.name)
		front, call := edge.frontCPU.Median(), direct.serverCPU.Median()+direct.clientCPU.Median()
		b.target(edge.serverCPU.Median() < 2*call, report.Number(edge.serverCPU.Median()/call)+"×", "< 2×",
			"%s, %s: CPU through the edge over that of the same call directly, both of its ends", d.name, c.name)
		if d.account != nil {
			b.target(front < call, fmt.Sprintf("%s µs against %s µs", report.Number(front), report.Number(call)), "less",
				"%s, %s: CPU of all that the edge's process does against that of the same call directly, both of its ends", d.name, c.name)
		}
	}
	if c.name == fullAlbum && d.account == nil {
		share := 100 * ratio(edge.rate, by[byHTTPBaseline].rate)
		b.target(share >= 50, report.Number(share)+" %", "≥ 50 %", "%s, %s: replies/s of what net/http does with the same bytes", d.name, c.name)
	}
	if c.name == bareAlbum && d.account == nil {
		b.directCall = (by[byRPCBaseline].serverCPU.Median() + by[byRPCBaseline].clientCPU.Median()) * 1e3
	}
}
