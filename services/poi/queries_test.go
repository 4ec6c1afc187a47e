package poi

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore/observed"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestAPageInAnyLayoutTakesFewQueries(t *testing.T) {
	// A city far from the middle takes more, until the search has found its near edge. So does a category that few have.
	most := map[string]int{"city": 12, "world": 5}
	for _, layout := range slices.Sorted(maps.Keys(layouts)) {
		t.Run(layout, func(t *testing.T) {
			random := rand.New(rand.NewPCG(9, 10))
			places := layouts[layout](random, 20_000)
			queries, found, pages, atOnce := 0, 0, 0, 0
			s := newObservedServer(t, func(call observed.Call) {
				if call.Verb == "scan" {
					queries++
				}
			})
			pois := landmarksAt(random, places)
			s.store(t, pois)
			for _, extent := range slices.Sorted(maps.Keys(extents)) {
				for category := range absentCategory + 1 {
					for range 10 {
						request := extents[extent](middleOf(random, places))
						request.Category, request.PageSize = category, 20
						want := bruteForce(pois, request)
						for range 3 {
							queries = 0
							reply, err := s.SearchNearby(t.Context(), request)
							if err != nil {
								t.Fatal(err)
							}
							if pages++; queries <= 2 {
								atOnce++ // the two queries of the first step go together
							}
							if queries > most[layout] {
								t.Errorf("%v took %d queries, want at most %d", request, queries, most[layout])
							}
							for _, f := range reply.GetPois() {
								if math.Abs(f.GetDistanceMeters()-want[0].Distance) > tolerance {
									t.Fatalf("%v: got %v, want %v", request, f, want[0])
								}
								want, found = want[1:], found+1
							}
							if request.PageToken = reply.GetNextPageToken(); request.PageToken == "" {
								if len(want) > 0 {
									t.Errorf("%v left out %v", request, want)
								}
								break
							}
						}
					}
				}
			}
			// The index has no order by category, so those with few landmarks take more steps.
			if atOnce*10 < pages*4 {
				t.Errorf("only %d of %d pages took a single step", atOnce, pages)
			}
			if found < 1000 {
				t.Errorf("only %d were found", found)
			}
		})
	}
}

// The categories of a layout's landmarks.
const (
	everyCategory  poiv1.PoiCategory = iota
	commonCategory                   // all but one in 100
	fewCategory                      // one in 100
	rareCategory                     // one in 10,000
	absentCategory                   // none
)

// layouts place landmarks in a town on an island of 400 by 150 km, or all over the world.
var layouts = map[string]func(random *rand.Rand, count int) []point{
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
