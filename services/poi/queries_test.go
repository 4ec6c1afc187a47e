package poi

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/docstore/observed"
	"github.com/waybook/waybook/internal/longform"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestAPageInAnyLayoutTakesFewQueries(t *testing.T) {
	// A city far from the middle takes more, until the search has found its near edge. So does a category that few have.
	most := map[string]int{"uniform": 6, "towns": 8, "city": 12, "world": 5}
	for _, layout := range slices.Sorted(maps.Keys(layouts)) {
		t.Run(layout, func(t *testing.T) {
			if layout == "towns" || layout == "uniform" {
				longform.Only(t)
			}
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
				for category := range categoryNames {
					for range 10 {
						request := extents[extent](middleOf(random, places))
						request.Category, request.PageSize = poiv1.PoiCategory(category), 20
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
