package rpc_test

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func circle(lat, lng, radius float64) *poiv1.SearchNearbyRequest {
	return &poiv1.SearchNearbyRequest{Area: &poiv1.SearchNearbyRequest_Circle{
		Circle: &typev1.Circle{Center: &typev1.Location{Lat: lat, Lng: lng}, RadiusMeters: radius},
	}}
}

func boxed(south, west, north, east float64) *poiv1.SearchNearbyRequest {
	return &poiv1.SearchNearbyRequest{Area: &poiv1.SearchNearbyRequest_Box{
		Box: &typev1.Box{South: south, West: west, North: north, East: east},
	}}
}

// namesNearby returns the names on all pages of a search.
func (w *waybook) namesNearby(request *poiv1.SearchNearbyRequest, size int32) []string {
	w.t.Helper()
	var names []string
	for request.PageSize, request.PageToken = size, ""; ; {
		r := must(w.poi.SearchNearby(w.t.Context(), request))(w.t)
		for _, f := range r.GetPois() {
			names = append(names, f.GetPoi().GetName())
		}
		if request.PageToken = r.GetNextPageToken(); request.PageToken == "" {
			return names
		}
	}
}

func TestSearchNearbyFindsTheNearestFirst(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	at := func(key string, category poiv1.PoiCategory, lat, lng float64) *poiv1.ImportedPoi {
		return &poiv1.ImportedPoi{Key: key, Name: key, Category: category, Location: &typev1.Location{Lat: lat, Lng: lng}}
	}
	expectImport(t, must(w.importPois(t.Context(), batchOf(owner,
		at("east", 1, 0, -179.99), at("west", 2, 0, 179.98), at("line", 1, 0, 180), at("line too", 2, 0, -180),
		at("pole", 1, 90, 17), at("below the pole", 2, 89.99, -163), at("far", 1, 0, 178),
	)))(t), 7, 0, 0)
	category := func(request *poiv1.SearchNearbyRequest, category poiv1.PoiCategory) *poiv1.SearchNearbyRequest {
		request.Category = category
		return request
	}
	for name, test := range map[string]struct {
		request *poiv1.SearchNearbyRequest
		want    []string
	}{
		"across the antimeridian":   {circle(0, 180, 10_000), []string{"line", "line too", "east", "west"}},
		"from its other side":       {circle(0, -179.995, 10_000), []string{"east", "line", "line too", "west"}},
		"a box across it":           {boxed(-1, 179, 1, -179), []string{"line", "line too", "east", "west"}},
		"a category":                {category(boxed(-1, 179, 1, -179), 2), []string{"line too", "west"}},
		"the pole":                  {circle(90, 0, 2000), []string{"pole", "below the pole"}},
		"a box that ends at a pole": {boxed(89, -165, 90, -160), []string{"below the pole", "pole"}},
		"a point":                   {circle(0, -180, 0), []string{"line", "line too"}},
		"the sea":                   {circle(-30, -120, 100_000), nil},
	} {
		for _, size := range []int32{1, 2, 3, 100, 0} {
			if got := w.namesNearby(test.request, size); !slices.Equal(got, test.want) {
				t.Errorf("%s in pages of %d: got %q, want %q", name, size, got, test.want)
			}
		}
	}
	r, err := w.poi.SearchNearby(t.Context(), circle(1, 178, 100_001))
	expectFault(t, failed(r, err), codes.InvalidArgument, "INVALID_PARAMETER", "circle.radius_meters")
	r = must(w.poi.SearchNearby(t.Context(), circle(0.5, 178, 100_000)))(t)
	found := r.GetPois()
	if want := 6371008.8 * math.Pi / 360; len(found) != 1 || math.Abs(found[0].GetDistanceMeters()-want) > 1e-6 || found[0].GetPoi().GetOwner().GetName() != "a" {
		t.Errorf("got %v, want one %v away", found, want)
	}
}

func TestSearchNearbyFollowsMovedAndDeletedLandmarks(t *testing.T) {
	w := start(t)
	owner := w.newUser("a")
	id := w.newPoi(owner, "x")
	here, there := circle(25.034, 121.5645, 10), circle(-89.999, 5, 10)
	if names := w.namesNearby(here, 5); len(names) != 1 {
		t.Errorf("before: %q", names)
	}
	must(w.poi.UpdatePoi(t.Context(), &poiv1.UpdatePoiRequest{ActorId: owner, PoiId: id, Location: &typev1.Location{Lat: -89.999, Lng: 5}}))(t)
	if gone, come := w.namesNearby(here, 5), w.namesNearby(there, 5); len(gone) != 0 || len(come) != 1 {
		t.Errorf("after the move: %q here, %q there", gone, come)
	}
	must(w.poi.DeletePoi(t.Context(), &poiv1.DeletePoiRequest{ActorId: owner, PoiId: id}))(t)
	if names := w.namesNearby(there, 5); len(names) != 0 {
		t.Errorf("after the deletion: %q", names)
	}
}

func TestSearchNearbyFailsAsTheContractSays(t *testing.T) {
	w, ctx := start(t), t.Context()
	owner := w.newUser("a")
	w.newPoi(owner, "x")
	w.newPoi(owner, "y")
	first := circle(25.034, 121.5645, 10)
	first.PageSize = 1
	r := must(w.poi.SearchNearby(ctx, first))(t)
	token := r.GetNextPageToken()
	with := func(request *poiv1.SearchNearbyRequest, change func(*poiv1.SearchNearbyRequest)) *poiv1.SearchNearbyRequest {
		change(request)
		return request
	}
	for name, test := range map[string]struct {
		request *poiv1.SearchNearbyRequest
		field   string
	}{
		"no area":                  {&poiv1.SearchNearbyRequest{}, "area"},
		"no center":                {with(circle(0, 0, 1), func(r *poiv1.SearchNearbyRequest) { r.GetCircle().Center = nil }), "circle.center"},
		"a center off the map":     {circle(91, 0, 1), "circle.center.lat"},
		"a negative radius":        {circle(0, 0, -1), "circle.radius_meters"},
		"not a number":             {circle(0, 0, math.NaN()), "circle.radius_meters"},
		"an edge off the map":      {boxed(0, 178, 1, 181), "box.east"},
		"south above north":        {boxed(1, 0, 0, 1), "box"},
		"too wide a box":           {boxed(0, 178, 1, -176.9), "box"},
		"too high a box":           {boxed(0, 0, 5.1, 1), "box"},
		"an unknown category":      {with(circle(0, 0, 1), func(r *poiv1.SearchNearbyRequest) { r.Category = 6 }), "category"},
		"too large a page":         {with(circle(0, 0, 1), func(r *poiv1.SearchNearbyRequest) { r.PageSize = 1001 }), "page_size"},
		"a token of another area":  {with(circle(25.034, 121.5645, 11), func(r *poiv1.SearchNearbyRequest) { r.PageToken = token }), "page_token"},
		"a token cut short":        {with(circle(25.034, 121.5645, 10), func(r *poiv1.SearchNearbyRequest) { r.PageToken = token[1:] }), "page_token"},
		"a token that is nonsense": {with(circle(25.034, 121.5645, 10), func(r *poiv1.SearchNearbyRequest) { r.PageToken = "中" }), "page_token"},
	} {
		t.Run(name, func(t *testing.T) {
			expectFault(t, failed(w.poi.SearchNearby(ctx, test.request)), codes.InvalidArgument, "INVALID_PARAMETER", test.field)
		})
	}
}
