package scale

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/waybook/waybook/bench/internal/report"
)

// caps are the highest numbers of albums of one owner that the simulation compares.
var caps = [...]float64{0, 100_000, 10_000}

func capName(most float64) string {
	if most == 0 {
		return "no cap"
	}
	return "cap " + report.Number(most)
}

// Balance compares numbers of shards at 1e8 albums.
func Balance(seed uint64) Section {
	const albums = 1e8
	table := report.Table{
		Title: "The fullest shard over the mean, at 100,000,000 albums",
		Rows:  [][]string{{"shards", "no cap: split evenly", "balanced", "cap 100,000: split evenly", "balanced", "cap 10,000: split evenly", "balanced", "requests, no cap"}},
	}
	plot := Plot{
		Title: "Documents of the fullest shard over the mean, 100,000,000 albums", X: "shards", Y: "fullest over mean",
		XTicks: []float64{4, 8, 16, 32, 64, 128, 256}, YTicks: []float64{1, 1.3, 2, 4, 8, 16, 32}, Limit: 1.3, LimitLabel: "goal",
	}
	var worlds []World
	for _, most := range caps {
		worlds = append(worlds, NewWorld(Population{Albums: albums, Cap: most, Seed: seed}))
		plot.Lines = append(plot.Lines, Line{Name: capName(most) + ", split evenly"}, Line{Name: capName(most) + ", balanced"})
	}
	requests := worlds[0].Requests()
	for _, x := range plot.XTicks {
		shards := int(x)
		row := []string{fmt.Sprint(shards)}
		for i, w := range worlds {
			even, balanced := MaxOverMean(w.All().PerShard(shards)), MaxOverMean(w.Balanced(shards))
			row = append(row, fmt.Sprintf("%.2f", even), fmt.Sprintf("%.2f", balanced))
			plot.Lines[2*i].add(x, even)
			plot.Lines[2*i+1].add(x, balanced)
		}
		if shards != 4 && shards != 16 && shards != 64 && shards != 256 {
			continue // the plot is enough
		}
		table.Add(append(row, fmt.Sprintf("%.2f", MaxOverMean(requests.PerShard(shards))))...)
	}
	return Section{Tables: []report.Table{table, hotOwners()}, Plots: map[string]Plot{"scale-shards.svg": plot}}
}

func (l *Line) add(x, y float64) { l.X, l.Y = append(l.X, x), append(l.Y, y) }

// Balanced returns the documents per shard after the balancer has moved ranges of each
// collection from an even split.
func (w World) Balanced(shards int) []float64 {
	sums := make([]float64, shards)
	for i, c := range Collections() {
		cluster := NewCluster(w.Documents[i].times(float64(c.Bytes)), shards, RangeSize)
		cluster.Balance()
		for shard, n := range cluster.PerShard(w.Documents[i]) {
			sums[shard] += n
		}
	}
	return sums
}

// photosOf returns the bytes of an owner's photos.
func photosOf(albums float64) float64 {
	photos := Collections()[0]
	return albums * photos.PerAlbum * float64(photos.Bytes)
}

// hotOwners lists the first owners, and those who fill a range by themselves.
func hotOwners() report.Table {
	table := report.Table{
		Title: "Owners by Zipf's law, without a cap",
		Rows:  [][]string{{"albums", "albums of the first owner", "of all", "photos of the first owner", "owners with more than 128 MB of photos"}},
	}
	for _, albums := range []float64{1e7, 1e8, 1e9} {
		p := Population{Albums: albums}
		first := p.Share() * albums
		table.Add(report.Number(albums), report.Number(first), fmt.Sprintf("%.3g %%", 100*p.Share()), bytes(photosOf(first)), strings.TrimSuffix(report.Number(float64(p.Above(RangeSize/photosOf(1)))), ".0"))
	}
	return table
}

// bytes formats a number of bytes.
func bytes(n float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3g TB", n)
}

// Split compares splits of the identifier at 1e9 albums.
func Split(seed uint64) Section {
	const albums = 1e9
	table := report.Table{
		Title: "Splits of the identifier, at 1,000,000,000 albums",
		Rows: [][]string{{
			"bits of place", "tick", "ids/s in a place", "ahead after an hour of 500/s", "at 10,000 landmarks/s", "photos in a place, mean", "above 128 MB: no cap", "cap 100,000", "cap 10,000",
			"above 512 MB: no cap", "cap 100,000",
		}},
	}
	var photos []Places
	for _, most := range caps {
		w := NewWorld(Population{Albums: albums, Cap: most, Seed: seed})
		photos = append(photos, w.AlbumsIn.times(photosOf(1)))
	}
	for bits := 12; bits <= PlaceBits; bits++ {
		tick := time.Millisecond << (bits - 12)
		ahead := Draws{Tick: tick, Sources: 1, Rate: 500, For: time.Hour, Policy: ReadHighest, Seed: seed}.Run().Ahead
		row := []string{
			fmt.Sprint(bits), fmt.Sprintf("%d ms", tick.Milliseconds()), report.Number(1 / tick.Seconds()), span(ahead),
			span(Import{Rate: 10_000, For: 20 * time.Second, Tick: tick, Bits: bits, Seed: seed}.Run()),
			bytes(photos[0].Sum() / float64(int(1)<<bits)),
		}
		for _, size := range []float64{RangeSize, 4 * RangeSize} {
			for i, most := range caps {
				if size == RangeSize || most != caps[2] {
					row = append(row, percent(above(photos[i].Fold(bits), size)))
				}
			}
		}
		table.Add(row...)
	}
	return Section{Tables: []report.Table{table}}
}

// above returns the share of the places above a size.
func above(places Places, size float64) float64 {
	count := 0
	for _, n := range places {
		if n > size {
			count++
		}
	}
	return float64(count) / float64(len(places))
}

func percent(share float64) string {
	switch {
	case share == 0:
		return "0"
	case share < 0.0001:
		return "< 0.01 %"
	}
	return fmt.Sprintf("%.3g %%", math.Round(share*1e5)/1e3)
}
