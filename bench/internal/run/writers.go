package run

import (
	"context"
	"errors"

	"github.com/waybook/waybook/bench/internal/report"
)

// manyWriters is the number of concurrent writers.
const manyWriters = 64

// writers compares the throughput of one writer with that of many, whose writes share
// commits.
func (b *bench) writers(ctx context.Context) (err error) {
	w := b.workshop.within()
	defer func() { err = errors.Join(err, w.close()) }()
	d, err := startStandalone(ctx, w, 0)
	if err != nil {
		return err
	}
	c := caseNamed(d.content, "addAlbum")
	edge := contender{name: byEdge, serves: d.serving(c, d.edge), open: d.opener(c)}
	counts := []int{1, manyWriters}
	results := make([]result, len(counts))
	for range b.settings.Rounds {
		for i, connections := range counts {
			results[i].contender = edge
			if err := results[i].closed(ctx, connections, b.settings.Duration); err != nil {
				return err
			}
		}
	}
	table := report.Table{Title: "addAlbum, durable when it is answered", Rows: [][]string{{"clients", "albums/s", "CPU µs", "allocs", "KB alloc"}}}
	for i, r := range results {
		table.Add(report.Number(float64(counts[i])), r.rate.String(), r.serverCPU.String(),
			report.Number(r.allocations.Median()), report.Number(r.allocatedBytes.Median()/1e3))
	}
	table.Print(b.out)
	gain := results[1].rate.Median() / results[0].rate.Median()
	b.target(gain >= 10, report.Number(gain)+"×", "≥ 10×", "durable addAlbum with %d clients over one", manyWriters)
	return nil
}
