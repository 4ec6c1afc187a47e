package poi

import (
	"math"
	"math/rand/v2"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// The categories of a layout's landmarks.
const (
	everyCategory  poiv1.PoiCategory = iota
	commonCategory                   // all but one in 100
	fewCategory                      // one in 100
	rareCategory                     // one in 10,000
	absentCategory                   // none
)

var categoryNames = []string{"every", "common", "few", "rare", "absent"}

// layouts place landmarks on an island of 400 by 150 km, or all over the world. Middles of
// searches are random landmarks' places or random points of the island.
var layouts = map[string]func(random *rand.Rand, count int) []point{
	"uniform": func(random *rand.Rand, count int) []point {
		places := make([]point, count)
		for i := range places {
			places[i] = onIsland(random)
		}
		return places
	},
	// Towns of very different sizes with little between them.
	"towns": func(random *rand.Rand, count int) []point {
		towns := make([]point, 200)
		for i := range towns {
			towns[i] = onIsland(random)
		}
		places := make([]point, count)
		for i := range places {
			town := int(200 * math.Pow(random.Float64(), 3))
			reach := []float64{0.002, 0.01, 0.05}[town%3]
			places[i] = point{towns[town].lat + reach*random.NormFloat64(), towns[town].lng + reach*random.NormFloat64()}
			if i%50 == 0 {
				places[i] = onIsland(random)
			}
		}
		return places
	},
	// One town with nearly everything.
	"city": func(random *rand.Rand, count int) []point {
		places := make([]point, count)
		for i := range places {
			places[i] = point{25.03 + 0.03*random.NormFloat64(), 121.56 + 0.03*random.NormFloat64()}
			if i%1000 == 0 {
				places[i] = onIsland(random)
			}
		}
		return places
	},
	"world": func(random *rand.Rand, count int) []point {
		places := make([]point, count)
		for i := range places {
			places[i] = point{math.Asin(2*random.Float64()-1) * 180 / math.Pi, 360*random.Float64() - 180}
		}
		return places
	},
}

func onIsland(random *rand.Rand) point {
	return point{22 + 3.5*random.Float64(), 120.2 + 1.5*random.Float64()}
}

func landmarksAt(random *rand.Rand, places []point) []poi {
	pois := make([]poi, len(places))
	for i, place := range places {
		pois[i] = newLandmark(int64(i+1), place.lat, place.lng)
		switch {
		case i%10_000 == 5000:
			pois[i].Category = int64(rareCategory)
		case random.IntN(100) == 0:
			pois[i].Category = int64(fewCategory)
		}
	}
	return pois
}

// extents are the searches around a middle.
var extents = map[string]func(middle point) *poiv1.SearchNearbyRequest{
	"1km":   func(m point) *poiv1.SearchNearbyRequest { return circle(m.lat, m.lng, 1000) },
	"100km": func(m point) *poiv1.SearchNearbyRequest { return circle(m.lat, m.lng, 100_000) },
	// More than a request may ask for.
	"hemisphere": func(m point) *poiv1.SearchNearbyRequest { return circle(m.lat, m.lng, 10_000_000) },
}

// middleOf returns the middle of a search: half of them at landmarks.
func middleOf(random *rand.Rand, places []point) point {
	if random.IntN(2) == 0 {
		return onIsland(random)
	}
	return places[random.IntN(len(places))]
}
