package rpc_test

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// circle is the area of a search.
func circle(lat, lng, radius float64) fields {
	return fields{"circle": &typev1.Circle{Center: at(lat, lng), RadiusMeters: radius}}
}

func at(lat, lng float64) *typev1.Location { return &typev1.Location{Lat: lat, Lng: lng} }

func (k kind) nearby(search fields) page {
	return k.page("SearchNearby", search, k.lowers(), string(k.field("id")))
}

func TestSearchNearbyFollowsMovedAndDeletedContent(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	moves := map[string]fields{"Album": {"lat": -89.999, "lng": 5.0}, "Blog": {"location": at(-89.999, 5)}, "Poi": {"location": at(-89.999, 5)}}
	for _, k := range w.kinds() {
		id := k.create(owner, "x")
		expect := func(when string, here, there []int64) {
			t.Helper()
			if old, now := k.nearby(circle(25.034, 121.5645, 10)).all(t, 5), k.nearby(circle(-89.999, 5, 10)).all(t, 5); !slices.Equal(old, here) || !slices.Equal(now, there) {
				t.Errorf("%s %s: %d here, %d there", k.service, when, old, now)
			}
		}
		expect("before", []int64{id}, nil)
		must(k.send(t.Context(), "Update", moves[k.name].and(fields{"actor_id": owner, "id": id})))(t)
		expect("after the move", nil, []int64{id})
		must(k.send(t.Context(), "Delete", fields{"actor_id": owner, "id": id}))(t)
		expect("after the deletion", nil, nil)
	}
}

func TestSearchNearbyFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	for _, k := range w.kinds() {
		k.create(owner, "x")
		k.create(owner, "y")
		here := circle(25.034, 121.5645, 10)
		_, token, err := k.nearby(here)(t.Context(), 1, "")
		if got(t, token, err) == "" {
			t.Fatal("there is no second page")
		}
		for name, test := range map[string]struct {
			search fields
			field  string
		}{
			"no circle":                 {fields{}, "circle"},
			"no center":                 {fields{"circle": &typev1.Circle{RadiusMeters: 1}}, "circle.center"},
			"a center off the map":      {circle(91, 0, 1), "circle.center.lat"},
			"a negative radius":         {circle(0, 0, -1), "circle.radius_meters"},
			"not a number":              {circle(0, 0, math.NaN()), "circle.radius_meters"},
			"too far":                   {circle(1, 178, 100_001), "circle.radius_meters"},
			"an unknown category":       {here.and(fields{"category": 77}), string(k.category)},
			"a token of another area":   {circle(25.034, 121.5645, 11).and(fields{"page_token": token}), "page_token"},
			"a token of all categories": {here.and(fields{"category": 1, "page_token": token}), "page_token"},
			"a token cut short":         {here.and(fields{"page_token": token[1:]}), "page_token"},
			"a token that is nonsense":  {here.and(fields{"page_token": "中"}), "page_token"},
		} {
			t.Run(k.service+" "+name, func(t *testing.T) {
				expectFault(t, failed(k.send(t.Context(), "SearchNearby", test.search)), codes.InvalidArgument, "INVALID_PARAMETER", test.field)
			})
		}
	}
}
