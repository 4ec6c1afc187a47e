package scale

import (
	"fmt"

	"github.com/waybook/waybook/bench/internal/report"
)

// Growing describes the move from 4 to 16 shards.
func Growing(seed uint64) Section {
	const albums, from, to = 1e9, 4, 16
	table := report.Table{
		Title: "From 4 to 16 shards, at 1,000,000,000 albums",
		Rows: [][]string{{
			"cap", "documents as BSON", "moved by an even split", "moved by the balancer", "rounds", "fullest shard over the mean", "with ranges of 1 GB",
		}},
	}
	for _, most := range caps {
		w := NewWorld(Population{Albums: albums, Cap: most, Seed: seed})
		var all, even float64
		var moves Moves
		shards, large := make([]float64, to), make([]float64, to)
		for i, c := range Collections() {
			places := w.Documents[i].times(float64(c.Bytes))
			all += places.Sum()
			even += EvenMoves(places, from, to)
			each := grow(places, from, to, RangeSize, shards)
			moves.Bytes, moves.Rounds = moves.Bytes+each.Bytes, moves.Rounds+each.Rounds
			grow(places, from, to, 8*RangeSize, large)
		}
		table.Add(capName(most), bytes(all), part100(even/all), part100(moves.Bytes/all),
			report.Number(float64(moves.Rounds)), fmt.Sprintf("%.2f", MaxOverMean(shards)), fmt.Sprintf("%.2f", MaxOverMean(large)))
	}
	return Section{Tables: []report.Table{table}}
}

// grow adds shards to a balanced cluster, balances it again, and adds the bytes of its shards to
// sums.
func grow(places Places, from, to int, rangeSize float64, sums []float64) Moves {
	cluster := NewCluster(places, from, rangeSize)
	cluster.Balance()
	cluster.AddShards(to - from)
	moves := cluster.Balance()
	for i, n := range cluster.bytes {
		sums[i] += n
	}
	return moves
}

func part100(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
