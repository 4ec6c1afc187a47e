package scale

import (
	"math/rand/v2"
	"sort"
)

// placedAlbums is how many of the most requested albums get a place of their own. The requests
// of the others spread like the albums.
const placedAlbums = 1_000_000

// Requests returns the share of the requests for albums that each place gets. Requests are Zipf
// distributed over albums. An album in demand belongs to any owner, in proportion to the
// owner's albums.
func (w World) Requests() Places {
	sums := make([]float64, len(w.AlbumsIn))
	total := 0.0
	for i, n := range w.AlbumsIn {
		total += n
		sums[i] = total
	}
	random := rand.New(rand.NewPCG(w.Seed, hotAlbums)) // #nosec G404 -- no secret
	z := newZipf(1, int(w.Albums), 0)
	places, rest := make(Places, len(w.AlbumsIn)), 1.0
	for rank := 1; rank <= min(placedAlbums, z.ranks); rank++ {
		share := z.of(rank)
		places[sort.SearchFloat64s(sums, random.Float64()*total)] += share
		rest -= share
	}
	for i, n := range w.AlbumsIn {
		places[i] += rest * n / total
	}
	return places
}

// HottestAlbum returns the share of the requests that the most requested of all albums gets.
func HottestAlbum(albums float64) float64 { return 1 / harmonic(albums) }
