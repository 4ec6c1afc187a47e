package edge

import (
	"context"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// streamPoisRequest: contract 4.8.
func streamPoisRequest(in *input) *poiv1.StreamPoisRequest {
	return &poiv1.StreamPoisRequest{
		Category:   required(in, &paramPoiCategory, asNumber[poiv1.PoiCategory]),
		Limit:      askedLimit(in),
		AfterPoiId: valueOr(optional(in, &paramAfter, asID), 0),
	}
}

func poisOfBatch(batch *poiv1.StreamPoisResponse) []*poiv1.PoiSummary { return batch.GetPois() }

var poiList = list[*poiv1.PoiSummary]{"POIList", "POI", func(out reply, poi *poiv1.PoiSummary) {
	out.integer("POIID", poi.GetPoiId())
	out.text("name", poi.GetName())
}}

// getPoiRequest: contract 4.9.
func getPoiRequest(in *input) *poiv1.GetPoiRequest {
	return &poiv1.GetPoiRequest{PoiId: required(in, &paramPoiID, asID)}
}

func writePoi(pois poiv1.PoiServiceClient) func(*exchange, *poiv1.GetPoiResponse) error {
	return func(x *exchange, response *poiv1.GetPoiResponse) error {
		poi := response.GetPoi()
		x.out.text("name", poi.GetName())
		x.out.integer("category", int64(poi.GetCategory()))
		writeLocation(x.out, poi.GetLocation())
		x.out.text("ownerName", poi.GetOwner().GetName())
		x.out.text("ownerIcon", poi.GetOwner().GetIconUrl())
		x.out.day("updateDate", poi.GetUpdateTime())
		x.out.integer("score", poi.GetScore())
		err := poiPhotos.writePages(x, response.GetPhotos(), response.GetNextPhotosToken(),
			func(ctx context.Context, token string) ([]*poiv1.Photo, string, error) {
				page, err := pois.ListPhotos(ctx, &poiv1.ListPhotosRequest{
					PoiId: poi.GetPoiId(), PageSize: pageSize, PageToken: token,
				})
				return page.GetPhotos(), page.GetNextPageToken(), err
			})
		if err != nil {
			return err
		}
		return comments.writePages(x, response.GetComments(), response.GetNextCommentsToken(),
			func(ctx context.Context, token string) ([]*typev1.Comment, string, error) {
				page, err := pois.ListComments(ctx, &poiv1.ListCommentsRequest{
					PoiId: poi.GetPoiId(), PageSize: pageSize, PageToken: token,
				})
				return page.GetComments(), page.GetNextPageToken(), err
			})
	}
}

// poiPhotos carry their address twice, because contract 2.4 names it both ways.
var poiPhotos = list[*poiv1.Photo]{"photos", "photo", func(out reply, photo *poiv1.Photo) {
	out.text("description", photo.GetDescription())
	out.text("photoPath", photo.GetPhotoUrl())
	out.text("photo", photo.GetPhotoUrl())
}}
