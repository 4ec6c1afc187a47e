package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// getPOI reads a landmark with its photos and comments (rules 6.5 and 17.15).
func getPOI(c *Config) Function {
	return Function{
		Name: "getPOI", Rule: "6.5", Title: form.Title{"Read a landmark", "讀取地標"}, Effect: Reads,
		Operations: withAndWithoutIDs(c, func(in *Input) *poiv1.GetPoiRequest {
			return &poiv1.GetPoiRequest{PoiId: required(in, &paramPoiID, "poi_id", form.ID)}
		}, c.Poi.GetPoi, writePoi),
	}
}

func writePoi(variant Variant) func(context.Context, *Config, *reply.Reply, *poiv1.GetPoiResponse) error {
	photos, comments := poiPhotos(variant), comments(variant)
	return func(ctx context.Context, c *Config, out *reply.Reply, response *poiv1.GetPoiResponse) error {
		poi := response.GetPoi()
		if variant == WithIDs {
			out.Integer("ownerID", poi.GetOwner().GetUserId())
		}
		out.Text("name", poi.GetName())
		out.Integer("category", int64(poi.GetCategory()))
		writeOwned(out.Writer, poi)
		of := contentID{"poi_id", poi.GetPoiId()}
		err := writePhotos(ctx, c, out, photos, of, response.GetPhotos(), response.GetNextPhotosToken())
		if err != nil {
			return err
		}
		return writeComments(ctx, c, out, comments, of, response.GetComments(), response.GetNextCommentsToken())
	}
}

// poiPhotos writes the photos of a landmark. Each has its address twice, because the old interface
// has two names for it (rule 6.6). Its identifier is what removePhoto takes (rule 17.15).
func poiPhotos(variant Variant) reply.List[*photov1.Photo] {
	return reply.List[*photov1.Photo]{Name: "photos", Item: "photo",
		WriteItem: func(out reply.Writer, photo *photov1.Photo) {
			if variant == WithIDs {
				out.ID("photoID", photo.GetPhotoId(), photo.GetOldId())
			}
			out.Text("description", photo.GetDescription())
			out.Text("photoPath", photo.GetUrl())
			out.Text("photo", photo.GetUrl())
		}}
}
