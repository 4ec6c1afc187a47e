package scale

import (
	"math"
	"math/rand/v2"
)

// PlaceBits is the number of bits of a place.
const PlaceBits = 16

// Population describes the owners of content.
type Population struct {
	// Albums is the number of albums; there is one owner for AlbumsPerOwner of them.
	Albums float64
	// Cap is the highest number of albums of one owner; 0 is none.
	Cap  float64
	Seed uint64
}

// AlbumsPerOwner is the mean. The first owner by Zipf's law has far more.
const AlbumsPerOwner = 20

// Owners returns the number of owners.
func (p Population) Owners() int { return int(p.Albums / AlbumsPerOwner) }

// Share returns the part of all albums that the first owner has.
func (p Population) Share() float64 {
	return newZipf(p.Albums, p.Owners(), p.Cap).of(1) / p.Albums
}

// Above returns the number of owners with more albums than a number.
func (p Population) Above(albums float64) int {
	z := newZipf(p.Albums, p.Owners(), p.Cap)
	if albums >= z.most {
		return 0
	}
	return int(min(z.first/albums, float64(z.ranks)))
}

// What the places of owners and of authors are drawn from.
const (
	owners uint64 = iota + 1
	authors
	hotAlbums
	landmarks
	draws
	readers
)

// Places holds a number for each place.
type Places []float64

// fill draws a place for each owner and adds up the albums of the owners of each place.
func (p Population) fill(salt uint64) Places {
	z := newZipf(p.Albums, p.Owners(), p.Cap)
	places := make(Places, 1<<PlaceBits)
	seed := mix(p.Seed, salt)
	for rank := 1; rank <= z.ranks; rank++ {
		places[mix(seed, uint64(rank))&(1<<PlaceBits-1)] += z.of(rank)
	}
	return places
}

// fillByKey spreads n documents by a hash of their keys.
func (p Population) fillByKey(n float64) Places {
	places := make(Places, 1<<PlaceBits)
	random := rand.New(rand.NewPCG(p.Seed, landmarks)) // #nosec G404 -- no secret
	mean := n / float64(len(places))
	for i := range places {
		// The number in a place has a Poisson distribution, which is nearly normal here.
		places[i] = max(0, mean+math.Sqrt(mean)*random.NormFloat64())
	}
	return places
}

// World is the number of documents of each collection in each place.
type World struct {
	Population
	// Albums are the albums by place. Documents are those of each of Collections.
	AlbumsIn  Places
	Documents []Places
}

// NewWorld fills the places.
func NewWorld(p Population) World {
	w := World{Population: p, AlbumsIn: p.fill(owners)}
	byAuthor := p.fill(authors)
	for _, c := range Collections() {
		switch {
		case c.ByKey:
			w.Documents = append(w.Documents, p.fillByKey(c.PerAlbum*p.Albums))
		case c.Name == "entries":
			w.Documents = append(w.Documents, byAuthor.times(c.PerAlbum))
		default:
			w.Documents = append(w.Documents, w.AlbumsIn.times(c.PerAlbum))
		}
	}
	return w
}

// times returns the places with all numbers multiplied.
func (p Places) times(factor float64) Places {
	scaled := make(Places, len(p))
	for i, n := range p {
		scaled[i] = n * factor
	}
	return scaled
}

// All returns the documents of all collections by place.
func (w World) All() Places {
	all := make(Places, 1<<PlaceBits)
	for _, places := range w.Documents {
		for i, n := range places {
			all[i] += n
		}
	}
	return all
}

// Fold returns the places that fewer bits would make: the low ones.
func (p Places) Fold(bits int) Places {
	folded := make(Places, 1<<bits)
	for i, n := range p {
		folded[i&(1<<bits-1)] += n
	}
	return folded
}

// Sum returns the sum of all places.
func (p Places) Sum() float64 {
	sum := 0.0
	for _, n := range p {
		sum += n
	}
	return sum
}

// shardOf returns the shard of a place if all places are split evenly, in ranges.
func (p Places) shardOf(place, shards int) int { return place * shards / len(p) }

// PerShard returns the sums of the shards if all places are split evenly.
func (p Places) PerShard(shards int) []float64 {
	sums := make([]float64, shards)
	for i, n := range p {
		sums[p.shardOf(i, shards)] += n
	}
	return sums
}

// MaxOverMean returns the highest of some numbers over their mean.
func MaxOverMean(numbers []float64) float64 {
	sum, most := 0.0, 0.0
	for _, n := range numbers {
		sum, most = sum+n, max(most, n)
	}
	return most * float64(len(numbers)) / sum
}
