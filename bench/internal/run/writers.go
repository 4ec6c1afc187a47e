package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybook/waybook/bench/internal/report"
)

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
