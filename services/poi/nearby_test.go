package poi

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore/observed"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// point is a place on the map, in degrees.
type point struct{ lat, lng float64 }

// hotspots are the centres of the clusters of random landmarks.
var hotspots = []point{
	{25.034, 121.5645}, {0, 0}, {90, 0}, {-90, 0}, {89.99, 180}, {-89.5, -120}, {0, 180}, {12.5, -180}, {-60, 179.9}, {45, 45}, {35.2644, 45},
}

// scatter returns landmarks all over the world. Many are close to the hotspots. Some are at
// one and the same place, at the poles, and on the antimeridian with either longitude.
func scatter(random *rand.Rand, count int) []poi {
	pois := make([]poi, count)
	for i := range pois {
		spot := hotspots[random.IntN(len(hotspots))]
		lat, lng := spot.lat, spot.lng
		switch random.IntN(12) {
		case 0:
			lat, lng = math.Asin(2*random.Float64()-1)*180/math.Pi, 360*random.Float64()-180
		case 1:
		case 2:
			lat, lng = 90-180*float64(random.IntN(2)), 360*random.Float64()-180
		case 3:
			lat, lng = random.NormFloat64()*0.3, 180-360*float64(random.IntN(2))
		default:
			// From centimetres to hundreds of kilometres away.
			reach := math.Pow(10, 8*random.Float64()-7)
			lat += random.NormFloat64() * reach
			lng += random.NormFloat64() * reach / max(0.001, math.Cos(lat*math.Pi/180))
			lat, lng = max(-90, min(90, lat)), math.Remainder(lng, 360)
		}
		pois[i] = newLandmark(int64(i+1), lat, lng)
		pois[i].Category = int64(1 + random.IntN(5))
	}
	return pois
}

func newLandmark(id int64, lat, lng float64) poi {
	return poi{
		ID: id, OwnerID: 1 + id%3, RequestKey: fmt.Sprint("#", id), Name: fmt.Sprint("landmark ", id), Category: 1,
		Lat: lat, Lng: lng, Cell: nearby.CellOf(lat, lng),
	}
}

func (s *server) store(t testing.TB, pois []poi) {
	t.Helper()
	for batch := range slices.Chunk(pois, 5000) {
		if err := s.pois.Documents.Insert(t.Context(), batch...); err != nil {
			t.Fatal(err)
		}
	}
}

func circle(lat, lng, radius float64) *poiv1.SearchNearbyRequest {
	center := &typev1.Location{Lat: lat, Lng: lng}
	return &poiv1.SearchNearbyRequest{Circle: &typev1.Circle{Center: center, RadiusMeters: radius}}
}

// randomArea returns a search near a hotspot.
func randomArea(random *rand.Rand) *poiv1.SearchNearbyRequest {
	spot := hotspots[random.IntN(len(hotspots))]
	reach := math.Pow(10, 6*random.Float64()-6)
	lat := max(-90, min(90, spot.lat+random.NormFloat64()*reach))
	lng := math.Remainder(spot.lng+random.NormFloat64()*reach*3, 360)
	return circle(lat, lng, min(100_000, math.Pow(10, 7*random.Float64()-1)))
}

// position is a landmark and its distance from the middle.
type position struct {
	Distance float64
	ID       int64
}

// tolerance is how far, in metres, landmarks of two pages may be from their order.
const tolerance = 0.1 + 0.03

func sorted(all []position) []position {
	return slices.SortedFunc(slices.Values(all), func(a, b position) int { return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID)) })
}

// areNearestFirst reports whether positions are those that are wanted, in their order.
func areNearestFirst(got, want []position) bool {
	for i := range got[:min(len(got), len(want))] {
		if math.Abs(got[i].Distance-want[i].Distance) > tolerance {
			return false
		}
	}
	return slices.Equal(sorted(got), want)
}

// walkNearby reads all pages of a search.
func (s *server) walkNearby(t testing.TB, request *poiv1.SearchNearbyRequest, size int) []position {
	t.Helper()
	var all []position
	request.PageSize, request.PageToken = int32(size), ""
	for {
		reply, err := s.SearchNearby(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(reply.GetPois()); n > size || n < size && reply.GetNextPageToken() != "" {
			t.Fatalf("a page of size %d has %d landmarks", size, n)
		}
		for _, f := range reply.GetPois() {
			all = append(all, position{f.GetDistanceMeters(), f.GetPoiId()})
		}
		if request.PageToken = reply.GetNextPageToken(); request.PageToken == "" {
			return all
		}
	}
}

// bruteForce checks every landmark.
func bruteForce(pois []poi, request *poiv1.SearchNearbyRequest) []position {
	area := nearby.CircleOf(request.GetCircle())
	var all []position
	for _, p := range pois {
		away, isInside := area.Locate(p.Lat, p.Lng)
		if isInside && (request.GetCategory() == 0 || int64(request.GetCategory()) == p.Category) {
			all = append(all, position{away, p.ID})
		}
	}
	return sorted(all)
}

func TestSearchNearbyMatchesBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s, pois := newServer(t), scatter(random, 6000)
	for i := range pois {
		if pois[i].Category == 5 && i%100 > 0 {
			pois[i].Category = 1 // so 5 is rare, and 6 is absent
		}
	}
	s.store(t, pois)
	most := 0
	for range 100 {
		request := randomArea(random)
		if random.IntN(3) == 0 {
			request.Category = poiv1.PoiCategory(1 + random.IntN(6))
		}
		want := bruteForce(pois, request)
		most = max(most, len(want))
		for _, size := range []int{1 + random.IntN(9), 10 + random.IntN(90), 1000} {
			if len(want) > 50*size {
				continue
			}
			if got := s.walkNearby(t, request, size); !areNearestFirst(got, want) {
				t.Fatalf("%v in pages of %d:\n got %v\nwant %v", request, size, got, want)
			}
		}
	}
	if most < 1000 {
		t.Errorf("no search found more than %d", most)
	}
}

// The nearest landmark is deleted after the search has found it in the index.
func TestALandmarkThatIsDeletedMeanwhileIsReplacedByTheNext(t *testing.T) {
	var s *server
	next := int64(1)
	s = newObservedServer(t, func(call observed.Call) {
		if s != nil && call.Verb == "scan" && next <= 2 {
			if err := s.pois.Documents.Delete(t.Context(), next); err != nil {
				t.Error(err)
			}
			next++
		}
	})
	var pois []poi
	for id := range int64(40) {
		pois = append(pois, newLandmark(id+1, 25+float64(id)/1e5, 121))
	}
	s.store(t, pois)
	request := circle(25, 121, 10_000)
	request.PageSize = 20
	reply, err := s.SearchNearby(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if first := reply.GetPois()[0].GetPoiId(); first != next || next == 1 || len(reply.GetPois()) != 20 || reply.GetNextPageToken() == "" {
		t.Errorf("got %d landmarks from %d, page token %q", len(reply.GetPois()), first, reply.GetNextPageToken())
	}
}

// A page within one point reads about as many entries as it shows, wherever it begins.
func TestAPageWithinOnePointReadsFewEntries(t *testing.T) {
	s := newServer(t)
	var pois []poi
	for id := range int64(16_000) {
		pois = append(pois, newLandmark(id+1, 25, 121))
		pois[id].Category = 1 + id%13
	}
	s.store(t, pois)
	for category, most := range map[poiv1.PoiCategory]int32{0: 4000, 3: 6000} {
		request := circle(25, 121, 50_000)
		request.Category = category
		request.PageSize = 20
		seen := map[int64]bool{}
		for range 5 {
			reply, err := s.SearchNearby(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range reply.GetPois() {
				seen[found.GetPoiId()] = true
			}
			if read := reply.GetReadCount(); read < 20 || read > most {
				t.Errorf("category %d: read %d", category, read)
			}
			request.PageToken = reply.GetNextPageToken()
		}
		if len(seen) != 100 {
			t.Errorf("category %d: %d landmarks", category, len(seen))
		}
		if want := bruteForce(pois, request); !areNearestFirst(s.walkNearby(t, request, 1000), want) {
			t.Errorf("category %d: other landmarks than the %d at the point", category, len(want))
		}
	}
}
