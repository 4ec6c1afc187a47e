package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybook/waybook/bench/internal/report"
)

// earlier compares this version with that of another source tree: the same cases, through the
// edge, each version on a store of its own.
func (b *bench) earlier(ctx context.Context) (err error) {
	other, err := newWorkshop(ctx, b.settings.Earlier, b.settings.Data, programs())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.close()) }()
	for _, start := range []starter{
		func(ctx context.Context, w *workshop) (*deployment, error) {
			return startStandalone(ctx, w, b.settings.Listed)
		},
		func(ctx context.Context, w *workshop) (*deployment, error) {
			return startProcesses(ctx, w, nil, b.settings.Listed)
		},
	} {
		if err := b.compareVersions(ctx, start, other); err != nil {
			return err
		}
	}
	return nil
}

// compareVersions runs the cases on a deployment of this version and on one of the workshop
// other.
func (b *bench) compareVersions(ctx context.Context, start starter, other *workshop) (err error) {
	var deployments []*deployment
	for _, w := range []*workshop{b.workshop.within(), other.within()} {
		defer func() { err = errors.Join(err, w.close()) }()
		d, err := start(ctx, w)
		if err != nil {
			return err
		}
		deployments = append(deployments, d)
	}
	table := report.Table{Title: deployments[0].name + ", beside an earlier version", Rows: [][]string{{
		"case", "replies/s", "earlier", "ratio", "CPU µs: servers", "earlier", "ratio", "KB alloc", "earlier", "p50 ms", "earlier", "p99 ms", "earlier",
	}}}
	perCase := make([][]testCase, len(deployments))
	for i, d := range deployments {
		perCase[i] = cases(d.content)
	}
	for at, c := range perCase[0] {
		if len(b.settings.Cases) > 0 && !slices.Contains(b.settings.Cases, c.name) {
			continue
		}
		var list []contender
		for i, d := range deployments {
			each := perCase[i][at]
			list = append(list, contender{name: byEdge, open: d.opener(each), serves: d.serving(each, d.edge)})
		}
		results, err := contest(ctx, b.settings, list, c.connections)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		now, then := results[0], results[1]
		table.Add(c.name, now.rate.String(), then.rate.String(), ratios(now.rate, then.rate).String(),
			now.serverCPU.String(), then.serverCPU.String(), ratios(now.serverCPU, then.serverCPU).String(),
			report.Number(now.allocatedBytes.Median()/1e3), report.Number(then.allocatedBytes.Median()/1e3),
			now.p50.String(), then.p50.String(), now.p99.String(), then.p99.String())
		b.progress("%s, %s: %s of the earlier replies/s", deployments[0].name, c.name, ratios(now.rate, then.rate))
	}
	table.Notes = []string{"A ratio is of the two turns of one round, this version over the earlier one."}
	table.Print(b.out)
	return nil
}

// ratios returns the ratio of each round.
func ratios(now, then report.Spread) (all report.Spread) {
	for i := range now {
		all = append(all, now[i]/then[i])
	}
	return all
}
