package poi

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
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

func TestPagesOfSizeOneCoverAStackAtOnePoint(t *testing.T) {
	s := newServer(t)
	var pois []poi
	for id := range int64(300) {
		pois = append(pois, newLandmark(id+1, 25, 121))
	}
	s.store(t, pois)
	for _, request := range []*poiv1.SearchNearbyRequest{circle(25, 121, 0), circle(25, 121.3, 50_000)} {
		if got, want := s.walkNearby(t, request, 1), bruteForce(pois, request); len(want) != 300 || !slices.Equal(got, want) {
			t.Errorf("%v: got %v", request, got)
		}
	}
}

func TestADistantClusterIsReadPartially(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	s := newServer(t)
	var pois []poi
	for id := range int64(20_000) {
		pois = append(pois, newLandmark(id+1, 25+random.NormFloat64()*0.001, 121+random.NormFloat64()*0.001))
	}
	s.store(t, pois)
	request := circle(25.3, 121.3, 100_000)
	want := bruteForce(pois, request)
	request.PageSize = 100
	seen := map[int64]bool{}
	for n := 0; n < 500; n += 100 {
		reply, err := s.SearchNearby(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range reply.GetPois() {
			if away := f.GetDistanceMeters(); math.Abs(away-want[n+i].Distance) > tolerance || seen[f.GetPoiId()] {
				t.Fatalf("number %d is %v, %v away, want %v, seen %v", n+i, f.GetPoiId(), away, want[n+i], seen[f.GetPoiId()])
			}
			seen[f.GetPoiId()] = true
		}
		request.PageToken = reply.GetNextPageToken()
	}
}

func TestAnUnchangedLandmarkIsListedOnceDuringWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	s := newServer(t)
	stay := scatter(random, 500)
	for i := range stay {
		stay[i] = newLandmark(int64(i+1), random.Float64(), random.Float64())
	}
	s.store(t, stay)
	request := circle(0.5, 0.5, 100_000)
	request.PageSize = 20
	var seen []int64
	for next := int64(1000); ; next++ {
		s.store(t, []poi{newLandmark(next, random.Float64(), random.Float64())})
		if next%3 == 0 {
			if err := s.pois.Documents.Delete(t.Context(), next-1); err != nil {
				t.Fatal(err)
			}
		}
		reply, err := s.SearchNearby(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range reply.GetPois() {
			if id := f.GetPoiId(); id < 1000 {
				seen = append(seen, id)
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

func TestATokenOfAnotherSearchIsRejected(t *testing.T) {
	s := newServer(t)
	s.store(t, scatter(rand.New(rand.NewPCG(7, 8)), 500))
	first := circle(0, 180, 100_000)
	first.PageSize = 1
	reply, err := s.SearchNearby(t.Context(), first)
	if err != nil || reply.GetNextPageToken() == "" {
		t.Fatal(reply, err)
	}
	ofCategory := circle(0, 180, 100_000)
	ofCategory.Category = 1
	for _, other := range []*poiv1.SearchNearbyRequest{
		circle(0, 179, 100_000), circle(0.1, 180, 100_000), circle(0, 180, 99_999), ofCategory,
	} {
		other.PageToken = reply.GetNextPageToken()
		if _, err := s.SearchNearby(t.Context(), other); !errors.Is(err, docstore.ErrBadToken) {
			t.Errorf("%v: got %v", other, err)
		}
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
