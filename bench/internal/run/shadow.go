package run

import (
	"context"
	"errors"
	"slices"

	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
)

// shadow measures what -shadow costs: standalone without it, a second one without it, which shows the
// noise, and one with it. All have copies of one store. The old server is a standalone, too, whose CPU
// does not count.
func (b *bench) shadow(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	data, filled, err := w.filledStore(ctx, b.settings.Listed)
	if err != nil {
		return err
	}
	old, err := w.onCopy(data, nil)
	if err != nil {
		return err
	}
	var deployments []*deployment
	names := []contenderName{"without", "without, again", "-shadow"}
	for _, args := range [][]string{nil, nil, {"-shadow=http://" + old.Addresses["edge"]}} {
		edge, err := w.onCopy(data, nil, args...)
		if err != nil {
			return err
		}
		deployments = append(deployments, &deployment{edge: edge, content: filled, services: map[service]*process.Process{}})
	}
	table := report.Table{Title: "With an old server as the shadow", Rows: [][]string{{
		"case", "contender", "replies/s", "CPU µs", "CPU, ratio", "at /s", "p50 ms", "p50, ratio", "p99 ms", "p99, ratio",
	}}}
	for _, c := range cases(filled) {
		if c.writes || c.streams || len(b.settings.Cases) > 0 && !slices.Contains(b.settings.Cases, c.name) {
			continue
		}
		var list []contender
		for i, d := range deployments {
			list = append(list, contender{name: names[i], open: d.opener(c), serves: []*process.Process{d.edge}})
		}
		results, err := contest(ctx, b.settings, list, c.connections)
		if err != nil {
			return err
		}
		for _, r := range results {
			table.Add(c.name, string(r.name), r.rate.String(), r.serverCPU.String(), ratios(r.serverCPU, results[0].serverCPU).String(), r.rateAsked.String(),
				r.p50.String(), ratios(r.p50, results[0].p50).String(), r.p99.String(), ratios(r.p99, results[0].p99).String())
		}
		b.progress("shadow, %s: CPU × %s", c.name, ratios(results[2].serverCPU, results[0].serverCPU))
	}
	table.Notes = []string{"A ratio is of the two turns of one round, over the first contender."}
	table.Print(b.out)
	return nil
}
