package poi

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore/observed"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func BenchmarkSearchNearby(b *testing.B) {
	for _, count := range []int{1000, 200_000} {
		random := rand.New(rand.NewPCG(1, 1))
		s := newServer(b)
		pois := make([]poi, count)
		for i := range pois {
			// An island of 400 by 150 km.
			pois[i] = newLandmark(int64(i+1), 22+3.5*random.Float64(), 120.2+1.5*random.Float64())
		}
		s.store(b, pois)
		deep := circle(23.7, 121, 100_000)
		deep.PageSize = 1000
		for range 20 {
			reply, err := s.SearchNearby(b.Context(), deep)
			if err != nil {
				b.Fatal(err)
			}
			if reply.GetNextPageToken() == "" {
				break
			}
			deep.PageToken = reply.GetNextPageToken()
		}
		deep.PageSize = 20
		for name, request := range map[string]*poiv1.SearchNearbyRequest{
			"1 km": circle(23.7, 121, 1000), "100 km": circle(23.7, 121, 100_000),
			"sea": circle(23.7, 150, 100_000), "deep page": deep,
		} {
			request.PageSize = 20
			b.Run(fmt.Sprintf("%s of %d", name, count), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.SearchNearby(b.Context(), request); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNearbyMix searches 200,000 landmarks and reports percentiles: in layouts of every
// density, by categories of every frequency, in areas of every size, on first and on later
// pages.
func BenchmarkNearbyMix(b *testing.B) {
	for _, layout := range slices.Sorted(maps.Keys(layouts)) {
		b.Run(layout, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			places := layouts[layout](random, 200_000)
			queries := 0
			s := newObservedServer(b, func(observed.Call) { queries++ })
			s.store(b, landmarksAt(random, places))
			for _, extent := range slices.Sorted(maps.Keys(extents)) {
				for category, name := range categoryNames {
					b.Run(extent+"/"+name, func(b *testing.B) {
						s.measureNearby(b, &queries, func() *poiv1.SearchNearbyRequest {
							request := extents[extent](middleOf(random, places))
							request.Category, request.PageSize = poiv1.PoiCategory(category), 20
							return request
						})
					})
				}
			}
		})
	}
}

// measureNearby reads up to three pages of each search.
func (s *server) measureNearby(b *testing.B, queries *int, next func() *poiv1.SearchNearbyRequest) {
	var elapsed, calls []float64
	for b.Loop() {
		request := next()
		for range 3 {
			start := time.Now()
			*queries = 0
			reply, err := s.SearchNearby(b.Context(), request)
			if err != nil {
				b.Fatal(err)
			}
			elapsed = append(elapsed, time.Since(start).Seconds()*1000)
			calls = append(calls, float64(*queries))
			if request.PageToken = reply.GetNextPageToken(); request.PageToken == "" {
				break
			}
		}
	}
	slices.Sort(elapsed)
	slices.Sort(calls)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(elapsed[len(elapsed)/2], "p50-ms")
	b.ReportMetric(elapsed[len(elapsed)*99/100], "p99-ms")
	b.ReportMetric(calls[len(calls)/2], "p50-queries")
	b.ReportMetric(calls[len(calls)*99/100], "p99-queries")
	b.ReportMetric(calls[len(calls)-1], "max-queries")
}

func BenchmarkImportPois(b *testing.B) {
	const batch = 1000
	for _, repeated := range []bool{false, true} {
		b.Run(map[bool]string{false: "new", true: "repeated"}[repeated], func(b *testing.B) {
			s := newServer(b)
			key := 0
			for b.Loop() {
				if repeated {
					key = 0
				}
				items := make([]*poiv1.ImportedPoi, batch)
				for i := range items {
					key++
					items[i] = &poiv1.ImportedPoi{
						Key: fmt.Sprint(key), Name: fmt.Sprint("landmark ", key), Category: 1,
						Location: &typev1.Location{Lat: float64(key%170) - 85, Lng: float64(key % 180)},
					}
				}
				if _, err := s.importAll(b.Context(), &poiv1.ImportPoisRequest{OwnerId: 1, Pois: items}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// BenchmarkBox reads pages of 1,000 of 150,000 landmarks: the first of a box in their midst, and
// one deep in the world.
func BenchmarkBox(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	s := newServer(b)
	pois := make([]poi, 150_000)
	for i := range pois {
		// An island of 400 by 150 km.
		pois[i] = newLandmark(int64(i+1), 22+3.5*random.Float64(), 120.2+1.5*random.Float64())
	}
	s.store(b, pois)
	deep := inBox(world, 0)
	for range 75 {
		reply, err := s.ListPois(b.Context(), deep)
		if err != nil {
			b.Fatal(err)
		}
		deep.PageToken = reply.GetNextPageToken()
	}
	for name, request := range map[string]*poiv1.ListPoisRequest{
		"first page": inBox(box{south: 23, west: 120.5, north: 24, east: 121.5}, 0), "deep page": deep,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if reply, err := s.ListPois(b.Context(), request); err != nil || len(reply.GetSummaries()) != 1000 {
					b.Fatal(len(reply.GetSummaries()), err)
				}
			}
		})
	}
}

// BenchmarkStack searches where many landmarks are at one point, among others in the middle of 100,000, and by one of 13
// categories.
func BenchmarkStack(b *testing.B) {
	for _, count := range []int{1, 1000, 16_000, 100_000} {
		random := rand.New(rand.NewPCG(1, 1))
		s := newServer(b)
		pois := make([]poi, count)
		for i := range pois {
			if pois[i] = newLandmark(int64(i+1), 25, 121); count == 100_000 {
				pois[i] = newLandmark(int64(i+1), 25+0.3*random.Float64(), 121+0.3*random.Float64())
			}
			pois[i].Category = int64(1 + i%13)
		}
		s.store(b, pois)
		for _, category := range []poiv1.PoiCategory{0, 3} {
			for _, size := range []int32{1, 50} {
				name := fmt.Sprintf("%d/category=%d/limit=%d", count, category, size)
				around, within := circle(25, 121, 50_000), inBox(box{south: 24.9, west: 120.9, north: 25.1, east: 121.1}, int32(category))
				around.PageSize, around.Category, within.PageSize = size, category, size
				b.Run("circle/"+name, func(b *testing.B) {
					for b.Loop() {
						if _, err := s.SearchNearby(b.Context(), around); err != nil {
							b.Fatal(err)
						}
					}
				})
				b.Run("box/"+name, func(b *testing.B) {
					for b.Loop() {
						if _, err := s.ListPois(b.Context(), within); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
