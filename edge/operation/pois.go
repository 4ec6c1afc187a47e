package operation

import (
	"context"
	"math"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parameters of landmarks (rules 6.3 and 6.5).
var (
	paramPoiCategory = form.Parameter{Name: "category", Hint: "1 to 5", Syntax: form.IntegerSyntax}
	paramPoiID       = form.Parameter{Name: "POIID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// categoryPoisRequest reads the parameters of getCategoryPOIList (rules 6.3, 9.2 and 9.4).
func categoryPoisRequest(in *Input) *poiv1.ListPoisRequest {
	return &poiv1.ListPoisRequest{
		View:       typev1.View_VIEW_SUMMARY,
		Category:   required(in, &paramPoiCategory, "category", form.Enum[poiv1.PoiCategory]),
		PageSize:   limitAndNext(in),
		AfterPoiId: form.Or(optional(in, &paramAfter, "after_poi_id", form.ID), 0),
	}
}

var poiList = summaries("POIList", "POI", "POIID", "name")

// getPoiRequest reads the parameter of getPOI (rule 6.5).
func getPoiRequest(in *Input) *poiv1.GetPoiRequest {
	return &poiv1.GetPoiRequest{PoiId: required(in, &paramPoiID, "poi_id", form.ID)}
}

// writePoi returns the function that writes a landmark.
func writePoi(ids ids) func(context.Context, *Config, *reply.Reply, *poiv1.GetPoiResponse) error {
	photos, comments := poiPhotos(ids), comments(ids)
	return func(ctx context.Context, c *Config, out *reply.Reply, response *poiv1.GetPoiResponse) error {
		poi := response.GetPoi()
		if ids == withIDs {
			out.Integer("ownerID", poi.GetOwner().GetUserId())
		}
		out.Text("name", poi.GetName())
		out.Integer("category", int64(poi.GetCategory()))
		writeOwned(out.Writer, poi)
		err := writePages(ctx, c, out, photos, response.GetPhotos(), response.GetNextPhotosToken(),
			c.Photo.ListPhotos, (*photov1.ListPhotosResponse).GetPhotos,
			func() *photov1.ListPhotosRequest {
				return &photov1.ListPhotosRequest{Parent: &photov1.ListPhotosRequest_PoiId{PoiId: poi.GetPoiId()}}
			})
		if err != nil {
			return err
		}
		return writePages(ctx, c, out, comments, response.GetComments(), response.GetNextCommentsToken(),
			c.Comment.ListComments, (*commentv1.ListCommentsResponse).GetComments,
			func() *commentv1.ListCommentsRequest {
				return &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_PoiId{PoiId: poi.GetPoiId()}}
			})
	}
}

// poiPhotos writes the photos of a landmark. Each has its address twice, because the old
// interface has two names for it (rule 6.6). Its identifier is what removePhoto takes (rule 17.15).
func poiPhotos(ids ids) reply.List[*photov1.Photo] {
	return reply.List[*photov1.Photo]{Name: "photos", Item: "photo", WriteItem: func(out reply.Writer, photo *photov1.Photo) {
		if ids == withIDs {
			out.ID("photoID", photo.GetPhotoId(), photo.GetOldId())
		}
		out.Text("description", photo.GetDescription())
		out.Text("photoPath", photo.GetUrl())
		out.Text("photo", photo.GetUrl())
	}}
}

// The parameters of areas (rules 17.3 to 17.6).
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
	return &poiv1.SearchNearbyRequest{Circle: requiredCircle(in), Category: optionalPoiCategory(in)}
}

func requiredCircle(in *Input) *typev1.Circle {
	return &typev1.Circle{
		Center: &typev1.Location{
			Lat: required(in, &paramNearLat, "circle.center.lat", form.Decimal),
			Lng: required(in, &paramLng, "circle.center.lng", form.Decimal),
		},
		RadiusMeters: required(in, &paramRadius, "circle.radius_meters", asRadius),
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
var foundPois = reply.List[*poiv1.Poi]{Name: "POIList", Item: "POI", WriteItem: func(out reply.Writer, poi *poiv1.Poi) {
	out.ID("POIID", poi.GetPoiId(), poi.GetOldId())
	out.Text("name", poi.GetName())
	out.Integer("category", int64(poi.GetCategory()))
	writeLocation(out, poi.GetLocation())
	writeDistance(out, poi.GetDistanceMeters())
}}

// writeDistance rounds to a tenth of a metre. The sphere is not the Earth; more digits would say nothing.
func writeDistance(out reply.Writer, meters float64) {
	out.Decimal("distance", math.Round(meters*10)/10)
}

// poisInBoxRequest reads the parameters of getNearbyPOIList in a box (rule 17.5).
func poisInBoxRequest(in *Input) *poiv1.ListPoisRequest {
	return &poiv1.ListPoisRequest{View: typev1.View_VIEW_SUMMARY, Box: requiredBox(in), Category: optionalPoiCategory(in)}
}

var locatedPois = located("POIList", "POI", "POIID", "name", writeCategory)
