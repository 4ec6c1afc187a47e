package poi

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/content/nearby"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

type box struct{ south, west, north, east float64 }

func inBox(b box, category int32) *poiv1.ListPoisRequest {
	return &poiv1.ListPoisRequest{
		View:     typev1.View_VIEW_SUMMARY,
		Box:      &typev1.Box{South: b.south, West: b.west, North: b.north, East: b.east},
		Category: poiv1.PoiCategory(category),
	}
}

var world = box{south: -90, west: -180, north: 90, east: 180}

// randomBox returns a box of any size: near a hotspot, across the antimeridian, at a pole,
// thin, or around the whole world.
func randomBox(random *rand.Rand) box {
	spot := hotspots[random.IntN(len(hotspots))]
	lat := max(-90, min(90, spot.lat+random.NormFloat64()*0.1))
	lng := math.Remainder(spot.lng+random.NormFloat64()*0.1, 360)
	height, width := 180*math.Pow(10, -6*random.Float64()), 360*math.Pow(10, -6*random.Float64())
	switch random.IntN(5) {
	case 0:
		height = 0
	case 1:
		width = 360
	}
	b := box{south: max(-90, lat-height*random.Float64()), north: min(90, lat+height*random.Float64())}
	b.west = math.Remainder(lng-width*random.Float64(), 360)
	if b.east = math.Remainder(b.west+width, 360); width == 360 {
		b.west, b.east = -180, 180
	}
	return b
}

// walkBox reads all pages of a box.
func (s *server) walkBox(t testing.TB, request *poiv1.ListPoisRequest, size int) (ids []int64) {
	t.Helper()
	request.PageSize, request.PageToken = int32(size), ""
	for {
		reply, err := s.ListPois(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(reply.GetSummaries()); n > size {
			t.Fatalf("a page of size %d has %d landmarks", size, n)
		}
		for _, p := range reply.GetSummaries() {
			ids = append(ids, p.GetId())
		}
		if request.PageToken = reply.GetNextPageToken(); request.PageToken == "" {
			return ids
		}
	}
}

// checkedBox returns the landmarks of a box in order. It checks every landmark.
func checkedBox(pois []poi, b box, category int32) (ids []int64) {
	inside := slices.DeleteFunc(slices.Clone(pois), func(p poi) bool {
		_, isInside := nearby.BoxOf(inBox(b, 0).GetBox()).Locate(p.Lat, p.Lng)
		return !isInside || category != 0 && p.Category != int64(category)
	})
	slices.SortFunc(inside, func(a, b poi) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Category, b.Category), cmp.Compare(a.ID, b.ID))
	})
	for _, p := range inside {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestABoxOfAnySizeMatchesBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	s, pois := newServer(t), scatter(random, 6000)
	s.store(t, pois)
	boxes := []box{world, {0, 180, 0, -180}, {-90, 0, -90, 0}, {90, 5, 90, 5}, {-1, 179, 1, -179}, {-90, 90, 90, 89.999}, {0, 0, 0, 0}}
	for range 100 {
		boxes = append(boxes, randomBox(random))
	}
	some, most := 0, 0
	for i, b := range boxes {
		category := int32(max(0, random.IntN(10)-4))
		if i == 0 {
			category = 0
		}
		want := checkedBox(pois, b, category)
		if most = max(most, len(want)); len(want) > 0 {
			some++
		}
		for _, size := range []int{1 + random.IntN(9), 10 + random.IntN(90), 1000} {
			if len(want) > 30*size {
				continue
			}
			if got := s.walkBox(t, inBox(b, category), size); !slices.Equal(got, want) {
				t.Fatalf("%v, category %d, in pages of %d: got %d, want %d\n%v\n%v", b, category, size, len(got), len(want), got, want)
			}
		}
	}
	if most != len(pois) || some < 50 {
		t.Errorf("%d boxes hold some, one holds %d", some, most)
	}
}

func TestAnUnchangedLandmarkOfABoxIsListedOnceDuringWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	s := newServer(t)
	var stay []poi
	for id := range int64(500) {
		stay = append(stay, newLandmark(id+1, random.Float64(), random.Float64()))
	}
	s.store(t, stay)
	request := inBox(box{0, 0, 1, 1}, 0)
	request.PageSize = 20
	var seen []int64
	for next := int64(1000); ; next++ {
		s.store(t, []poi{newLandmark(next, random.Float64(), random.Float64())})
		if next%3 == 0 {
			if err := s.pois.Documents.Delete(t.Context(), next-1); err != nil {
				t.Fatal(err)
			}
		}
		reply, err := s.ListPois(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range reply.GetSummaries() {
			if p.GetId() < 1000 {
				seen = append(seen, p.GetId())
			}
		}
		if request.PageToken = reply.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	slices.Sort(seen)
	if len(seen) != len(stay) || len(slices.Compact(seen)) != len(stay) {
		t.Errorf("%d of %d were seen", len(seen), len(stay))
	}
}
