package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// The parameters of landmarks (rules 6.3 and 6.5).
var (
	paramPoiCategory = form.Parameter{Name: "category", Hint: "1 to 5", Syntax: form.IntegerSyntax}
	paramPoiID       = form.Parameter{Name: "POIID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// streamPoisRequest reads the parameters of getCategoryPOIList (rules 6.3, 9.2 and 9.4).
func streamPoisRequest(in *Input) *poiv1.StreamPoisRequest {
	return &poiv1.StreamPoisRequest{
		Category:   required(in, &paramPoiCategory, "category", form.Enum[poiv1.PoiCategory]),
		Limit:      askedLimit(in),
		AfterPoiId: form.Or(optional(in, &paramAfter, "after_poi_id", form.ID), 0),
	}
}

var poiList = reply.List[*poiv1.PoiSummary]{Name: "POIList", Item: "POI", WriteItem: func(out reply.Writer, poi *poiv1.PoiSummary) {
	out.ID("POIID", poi.GetPoiId(), poi.GetOldId())
	out.Text("name", poi.GetName())
}}

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
			c.Poi.ListPhotos, (*poiv1.ListPhotosResponse).GetPhotos,
			func() *poiv1.ListPhotosRequest { return &poiv1.ListPhotosRequest{PoiId: poi.GetPoiId()} })
		if err != nil {
			return err
		}
		return writePages(ctx, c, out, comments, response.GetComments(), response.GetNextCommentsToken(),
			c.Poi.ListComments, (*poiv1.ListCommentsResponse).GetComments,
			func() *poiv1.ListCommentsRequest { return &poiv1.ListCommentsRequest{PoiId: poi.GetPoiId()} })
	}
}

// poiPhotos writes the photos of a landmark. Each has its address twice, because the old
// interface has two names for it (rule 6.6). Its identifier is what removePhoto takes (rule 17.15).
func poiPhotos(ids ids) reply.List[*poiv1.Photo] {
	return reply.List[*poiv1.Photo]{Name: "photos", Item: "photo", WriteItem: func(out reply.Writer, photo *poiv1.Photo) {
		if ids == withIDs {
			out.ID("photoID", photo.GetPhotoId(), photo.GetOldId())
		}
		out.Text("description", photo.GetDescription())
		out.Text("photoPath", photo.GetPhotoUrl())
		out.Text("photo", photo.GetPhotoUrl())
	}}
}

func poiIDs(poi *poiv1.PoiSummary) (id int64, oldID string) { return poi.GetPoiId(), poi.GetOldId() }
