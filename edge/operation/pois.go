package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
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

func poisOfBatch(batch *poiv1.StreamPoisResponse) []*poiv1.PoiSummary { return batch.GetPois() }

var poiList = reply.List[*poiv1.PoiSummary]{Name: "POIList", Item: "POI", WriteItem: func(out reply.Writer, poi *poiv1.PoiSummary) {
	out.ID("POIID", poi.GetPoiId(), poi.GetOldId())
	out.Text("name", poi.GetName())
}}

// getPoiRequest reads the parameter of getPOI (rule 6.5).
func getPoiRequest(in *Input) *poiv1.GetPoiRequest {
	return &poiv1.GetPoiRequest{PoiId: required(in, &paramPoiID, "poi_id", form.ID)}
}

func writePoi(ctx context.Context, c *Config, out *reply.Reply, response *poiv1.GetPoiResponse) error {
	return writePoiWith(ctx, c, out, response, poiPhotos, comments)
}

func writePoiWithIDs(ctx context.Context, c *Config, out *reply.Reply, response *poiv1.GetPoiResponse) error {
	out.Integer("ownerID", response.GetPoi().GetOwner().GetUserId())
	return writePoiWith(ctx, c, out, response, poiPhotosWithIDs, commentsWithIDs)
}

func writePoiWith(
	ctx context.Context, c *Config, out *reply.Reply, response *poiv1.GetPoiResponse,
	poiPhotos reply.List[*poiv1.Photo], comments reply.List[*typev1.Comment],
) error {
	poi := response.GetPoi()
	out.Text("name", poi.GetName())
	out.Integer("category", int64(poi.GetCategory()))
	writeLocation(out.Writer, poi.GetLocation())
	out.Text("ownerName", poi.GetOwner().GetName())
	out.Text("ownerIcon", poi.GetOwner().GetIconUrl())
	out.Day("updateDate", poi.GetUpdateTime().AsTime())
	out.Integer("score", poi.GetScore())
	err := writePages(ctx, c, out, poiPhotos, response.GetPhotos(), response.GetNextPhotosToken(),
		func(ctx context.Context, token string) ([]*poiv1.Photo, string, error) {
			page, err := c.Poi.ListPhotos(ctx, &poiv1.ListPhotosRequest{
				PoiId: poi.GetPoiId(), PageSize: pageSize, PageToken: token,
			})
			return page.GetPhotos(), page.GetNextPageToken(), err
		})
	if err != nil {
		return err
	}
	return writePages(ctx, c, out, comments, response.GetComments(), response.GetNextCommentsToken(),
		func(ctx context.Context, token string) ([]*typev1.Comment, string, error) {
			page, err := c.Poi.ListComments(ctx, &poiv1.ListCommentsRequest{
				PoiId: poi.GetPoiId(), PageSize: pageSize, PageToken: token,
			})
			return page.GetComments(), page.GetNextPageToken(), err
		})
}

// poiPhotos writes the photos of a landmark. Each has its address twice, because the old
// interface has two names for it (rule 6.6).
var poiPhotos = reply.List[*poiv1.Photo]{Name: "photos", Item: "photo", WriteItem: writePoiPhoto}

// poiPhotosWithIDs also has what removePhoto takes (rule 17.15).
var poiPhotosWithIDs = reply.List[*poiv1.Photo]{Name: "photos", Item: "photo", WriteItem: func(out reply.Writer, photo *poiv1.Photo) {
	out.ID("photoID", photo.GetPhotoId(), photo.GetOldId())
	writePoiPhoto(out, photo)
}}

func writePoiPhoto(out reply.Writer, photo *poiv1.Photo) {
	out.Text("description", photo.GetDescription())
	out.Text("photoPath", photo.GetPhotoUrl())
	out.Text("photo", photo.GetPhotoUrl())
}

func poiIDs(poi *poiv1.PoiSummary) (id int64, oldID string) { return poi.GetPoiId(), poi.GetOldId() }
