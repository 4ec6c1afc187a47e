package scale

import "math"

// harmonic returns 1 + 1/2 + … + 1/n, to within a millionth.
func harmonic(n float64) float64 {
	if n < 32 {
		sum := 0.0
		for i := 1.0; i <= n; i++ {
			sum += 1 / i
		}
		return sum
	}
	const gamma = 0.57721566490153286
	return math.Log(n) + gamma + 1/(2*n) - 1/(12*n*n)
}

// zipf is a distribution of things over ranks by Zipf's law with exponent 1: the first rank
// has twice as many as the second one. No rank has more than most.
type zipf struct {
	ranks       int
	first, most float64
}

// newZipf distributes total things over the ranks. most is the cap of one rank; 0 is none. It
// must allow the total.
func newZipf(total float64, ranks int, most float64) zipf {
	z := zipf{ranks: ranks, first: total / harmonic(float64(ranks)), most: most}
	if most == 0 || z.first <= most {
		z.most = math.Inf(1)
		return z
	}
	// A cap takes from the first ranks, so that first, the numerator of the rest, grows.
	low, high := z.first, most*float64(ranks)
	for range 100 {
		z.first = (low + high) / 2
		if z.sum() < total {
			low = z.first
		} else {
			high = z.first
		}
	}
	return z
}

// of returns how many things a rank has. The first rank is 1.
func (z zipf) of(rank int) float64 { return min(z.most, z.first/float64(rank)) }

// sum returns how many things all ranks have.
func (z zipf) sum() float64 {
	capped := math.Floor(min(z.first/z.most, float64(z.ranks)))
	return capped*min(z.most, z.first) + z.first*(harmonic(float64(z.ranks))-harmonic(capped))
}

// rankAt returns the rank of a thing drawn at random. u is uniform from 0 to 1. It ignores the
// cap.
func (z zipf) rankAt(u float64) int {
	// The density 1/rank has the logarithm as its sum. The first rank covers ½ to 1½.
	return min(z.ranks, max(1, int(math.Round(0.5*math.Pow(2*float64(z.ranks)+1, u)))))
}

// mix returns a hash of a seed and a number (the finalizer of SplitMix64).
func mix(seed, number uint64) uint64 {
	x := number*0x9e3779b97f4a7c15 + seed
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
