package poi

import (
	"fmt"
	"math/rand/v2"
	"testing"

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
			"1 km": circle(23.7, 121, 1000), "100 km": circle(23.7, 121, 100_000), "box": boxed(23, 120.5, 24, 121.5),
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
				if _, err := s.importBatch(b.Context(), 1, items); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch*b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}
