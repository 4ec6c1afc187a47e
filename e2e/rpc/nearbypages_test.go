package rpc_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/edge"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func bounds(south, west, north, east float64) *poiv1.ListPoisInBoxRequest {
	return &poiv1.ListPoisInBoxRequest{Bounds: &poiv1.Bounds{South: south, West: west, North: north, East: east}}
}

// nearPoi is an item of getNearbyPOIList.
type nearPoi struct {
	POIID    int64
	Name     string
	Category int
	Location struct{ Lat, Lng float64 }
	Distance *float64
}

// allNearby reads a list of getNearbyPOIList in parts of a limit; 0 reads it at once.
func allNearby(t *testing.T, handler http.Handler, area string, limit int) (all []nearPoi) {
	t.Helper()
	for after := ""; ; {
		query := "/API.php?func=getNearbyPOIList&responseFormat=JSON&" + area
		if limit > 0 {
			query += "&limit=" + strconv.Itoa(limit) + "&after=" + url.QueryEscape(after)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, query, nil))
		var reply struct {
			Status, Info, Next string
			POIList            []nearPoi
		}
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || reply.Status != "SUCCESS" {
			t.Fatalf("%s: %v %s", query, err, w.Body)
		}
		if n := len(reply.POIList); limit > 0 && (n > limit || n < limit && reply.Next != "") {
			t.Fatalf("%s: %d items, next %q", query, n, reply.Next)
		}
		all = append(all, reply.POIList...)
		if after = reply.Next; after == "" {
			return all
		}
	}
}

// arc returns the distance of two places by the spherical law of cosines, which is not the
// formula of the service.
func arc(lat1, lng1, lat2, lng2 float64) float64 {
	const degree = math.Pi / 180
	cosine := math.Sin(lat1*degree)*math.Sin(lat2*degree) + math.Cos(lat1*degree)*math.Cos(lat2*degree)*math.Cos((lng1-lng2)*degree)
	return 6371008.8 * math.Acos(max(-1, min(1, cosine)))
}

func TestAllLandmarksAreReadInPartsWithoutGapOrDouble(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		// FerretDB reads everything for each query of many ranges.
		count, limits := 4000, []int{77, 1000, 1500}
		if t.Name() != "TestAllLandmarksAreReadInPartsWithoutGapOrDouble/embedded" {
			count, limits = 240, []int{50}
		}
		random := rand.New(rand.NewPCG(21, 22))
		owner := p.newUser("a")
		var pois []*poiv1.ImportedPoi
		for i := range count {
			// A town, the world, a place across the antimeridian, and both poles.
			lat, lng := 25+random.NormFloat64()*0.2, 121.5+random.NormFloat64()*0.2
			switch i % 8 {
			case 0:
				lat, lng = 180*random.Float64()-90, 360*random.Float64()-180
			case 1:
				lat, lng = random.NormFloat64()*0.1, math.Remainder(180+random.NormFloat64()*0.1, 360)
			case 2:
				lat, lng = float64(90-180*(i/8%2)), 360*random.Float64()-180
			}
			pois = append(pois, &poiv1.ImportedPoi{
				Key: fmt.Sprint(i), Name: fmt.Sprint("地標 ", i), Category: poiv1.PoiCategory(1 + i%5), Location: &typev1.Location{Lat: lat, Lng: lng},
			})
		}
		var batches []*poiv1.ImportPoisRequest
		for batch := range slices.Chunk(pois, 1000) {
			batches = append(batches, batchOf(owner, batch...))
		}
		expectImport(t, must(p.importPois(t.Context(), batches...))(t), int64(len(pois)), 0, 0)
		handler := edge.New(edge.Config{Account: p.account, Album: p.album, Blog: p.blog, Poi: p.poi, Zone: time.UTC})

		holds := func(p *poiv1.ImportedPoi, south, west, north, east float64) bool {
			lat, lng := p.GetLocation().GetLat(), p.GetLocation().GetLng()
			return lat >= south && lat <= north && (math.Abs(lat) == 90 || west <= east && west <= lng && lng <= east || west > east && (lng >= west || lng <= east))
		}
		for _, box := range [][4]float64{{-90, -180, 90, 180}, {-1, 179.5, 1, -179.5}, {24, 121, 26, 122}, {60, 0, 90, 10}, {-90, 10, 0, 11}, {0, 0, 0, 0}} {
			area := fmt.Sprintf("latMin=%v&lngMin=%v&latMax=%v&lngMax=%v", box[0], box[1], box[2], box[3])
			for _, category := range []int{0, 3} {
				var want []string
				for i, p := range pois {
					if holds(p, box[0], box[1], box[2], box[3]) && (category == 0 || 1+i%5 == category) {
						want = append(want, p.GetName())
					}
				}
				slices.Sort(want)
				selected := area
				if category != 0 {
					selected += fmt.Sprint("&category=", category)
				}
				whole := allNearby(t, handler, selected, 0)
				for _, limit := range limits {
					if found := allNearby(t, handler, selected, limit); !slices.EqualFunc(found, whole, func(a, b nearPoi) bool { return a.POIID == b.POIID }) {
						t.Errorf("%s in parts of %d is another list than as a whole", selected, limit)
					}
				}
				var names []string
				for _, found := range whole {
					names = append(names, found.Name)
					if found.Distance != nil {
						t.Errorf("%s has a distance", found.Name)
					}
				}
				if slices.Sort(names); !slices.Equal(names, want) {
					t.Errorf("%s: got %d landmarks, want %d", selected, len(names), len(want))
				}
			}
		}

		for _, center := range [][3]float64{{25, 121.5, 50_000}, {0, 180, 20_000}, {0, -179.99, 50_000}, {90, 7, 50_000}, {-90, 0, 0}, {25, 121.5, 0}} {
			area := fmt.Sprintf("lat=%v&lng=%v&radius=%v", center[0], center[1], center[2])
			var want []float64
			for _, p := range pois {
				if away := arc(center[0], center[1], p.GetLocation().GetLat(), p.GetLocation().GetLng()); away <= center[2]+0.1 {
					want = append(want, away)
				}
			}
			slices.Sort(want)
			for _, limit := range append([]int{0}, limits...) {
				found := allNearby(t, handler, area, limit)
				if len(found) != len(want) {
					t.Errorf("%s in parts of %d: got %d landmarks, want %d", area, limit, len(found), len(want))
					continue
				}
				seen := map[int64]bool{}
				for i, each := range found {
					// The law of cosines loses digits where the distance is small.
					if away := arc(center[0], center[1], each.Location.Lat, each.Location.Lng); math.Abs(*each.Distance-away) > 0.3 || math.Abs(*each.Distance-want[i]) > 0.3 {
						t.Errorf("%s: number %d is %v away, want %v or %v", area, i, *each.Distance, away, want[i])
					}
					if seen[each.POIID] {
						t.Errorf("%s: %d comes twice", area, each.POIID)
					}
					seen[each.POIID] = true
				}
			}
		}
	})
}

func TestListPoisInBoxFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	owner := w.newUser("a")
	w.newPoi(owner, "x")
	w.newPoi(owner, "y")
	first := bounds(-90, -180, 90, 180)
	first.PageSize = 1
	r := must(w.poi.ListPoisInBox(ctx, first))(t)
	token := r.GetNextPageToken()
	with := func(change func(*poiv1.ListPoisInBoxRequest)) *poiv1.ListPoisInBoxRequest {
		request := bounds(-90, -180, 90, 180)
		change(request)
		return request
	}
	for name, test := range map[string]struct {
		request *poiv1.ListPoisInBoxRequest
		field   string
	}{
		"no box":                 {&poiv1.ListPoisInBoxRequest{}, "bounds"},
		"an edge off the map":    {bounds(0, 178, 1, 181), "bounds.east"},
		"not a number":           {bounds(0, math.NaN(), 1, 1), "bounds.west"},
		"south above north":      {bounds(1, 0, 0, 1), "bounds"},
		"an unknown category":    {with(func(r *poiv1.ListPoisInBoxRequest) { r.Category = 6 }), "category"},
		"a token of another box": {&poiv1.ListPoisInBoxRequest{Bounds: bounds(-90, -180, 90, 179).GetBounds(), PageToken: token}, "page_token"},
		"a token cut short":      {with(func(r *poiv1.ListPoisInBoxRequest) { r.PageToken = token[1:] }), "page_token"},
	} {
		t.Run(name, func(t *testing.T) {
			expectFault(t, failed(w.poi.ListPoisInBox(ctx, test.request)), codes.InvalidArgument, "INVALID_PARAMETER", test.field)
		})
	}
}
