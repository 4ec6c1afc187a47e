package operation

import (
	"math"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parameters of getNearbyPOIList (rules 17.3 to 17.6).
var (
	paramNearLat = form.Parameter{Name: "lat", Hint: "from -90 to 90", OneOf: "lat or latMin", Syntax: form.DecimalSyntax}
	paramRadius  = form.Parameter{Name: "radius", Hint: "from 0 to 50000 metres", Syntax: form.DecimalSyntax, Range: &form.Range{Min: 0, Max: 50_000}}
	paramLatMin  = form.Parameter{Name: "latMin", Hint: "from -90 to 90", Syntax: form.DecimalSyntax}
	paramLatMax  = form.Parameter{Name: "latMax", Hint: "from -90 to 90, not less than latMin", Syntax: form.DecimalSyntax}
	paramLngMin  = form.Parameter{Name: "lngMin", Hint: "from -180 to 180", Syntax: form.DecimalSyntax}
	paramLngMax  = form.Parameter{Name: "lngMax", Hint: "from -180 to 180", Syntax: form.DecimalSyntax}
)

// searchNearbyRequest reads the parameters of getNearbyPOIList around a point (rule 17.3).
func searchNearbyRequest(in *Input) *poiv1.SearchNearbyRequest {
	return &poiv1.SearchNearbyRequest{
		Area: &poiv1.SearchNearbyRequest_Circle{Circle: &typev1.Circle{
			Center: &typev1.Location{
				Lat: required(in, &paramNearLat, "circle.center.lat", form.Decimal),
				Lng: required(in, &paramLng, "circle.center.lng", form.Decimal),
			},
			RadiusMeters: required(in, &paramRadius, "circle.radius_meters", asRadius),
		}},
		Category: optionalPoiCategory(in),
	}
}

func asRadius(s string) (float64, bool) {
	value, ok := form.ParseDecimal(s)
	limits := paramRadius.Range
	return value, ok && float64(limits.Min) <= value && value <= float64(limits.Max)
}

// optionalPoiCategory returns 0, for all categories, if the parameter is absent.
func optionalPoiCategory(in *Input) poiv1.PoiCategory {
	return form.Or(optional(in, &paramPoiCategory, "category", form.Enum[poiv1.PoiCategory]), 0)
}

// foundPois writes landmarks with their distances from the point (rule 17.4).
var foundPois = reply.List[*poiv1.FoundPoi]{Name: "POIList", Item: "POI", WriteItem: func(out reply.Writer, found *poiv1.FoundPoi) {
	poi := found.GetPoi()
	writePlace(out, poi.GetPoiId(), poi.GetOldId(), poi.GetName(), poi.GetCategory(), poi.GetLocation())
	// The sphere is not the Earth; more digits would say nothing.
	out.Decimal("distance", math.Round(found.GetDistanceMeters()*10)/10)
}}

// listPoisInBoxRequest reads the parameters of getNearbyPOIList in a box (rule 17.5).
func listPoisInBoxRequest(in *Input) *poiv1.ListPoisInBoxRequest {
	bounds := &poiv1.Bounds{
		South: required(in, &paramLatMin, "bounds.south", form.Decimal),
		North: required(in, &paramLatMax, "bounds.north", form.Decimal),
	}
	in.Imply(&paramLatMax, "bounds")
	bounds.West = required(in, &paramLngMin, "bounds.west", form.Decimal)
	bounds.East = required(in, &paramLngMax, "bounds.east", form.Decimal)
	return &poiv1.ListPoisInBoxRequest{Bounds: bounds, Category: optionalPoiCategory(in)}
}

// locatedPois writes landmarks for a map (rule 17.5).
var locatedPois = reply.List[*poiv1.LocatedPoi]{Name: "POIList", Item: "POI", WriteItem: func(out reply.Writer, poi *poiv1.LocatedPoi) {
	writePlace(out, poi.GetPoiId(), "", poi.GetName(), poi.GetCategory(), poi.GetLocation())
}}

func writePlace(out reply.Writer, id int64, oldID, name string, category poiv1.PoiCategory, location *typev1.Location) {
	out.ID("POIID", id, oldID)
	out.Text("name", name)
	out.Integer("category", int64(category))
	writeLocation(out, location)
}
