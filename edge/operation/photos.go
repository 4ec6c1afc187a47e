package operation

import (
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// The parameters of photos (rules 17.7 and 17.8). The addresses have the names that replies show.
var (
	paramThumbnail   = form.Parameter{Name: "thumbnail", Hint: "address of the image, 1 to 2000 bytes"}
	paramPhoto       = form.Parameter{Name: "photo", Hint: "address of the image, 1 to 2000 bytes"}
	paramDescription = form.Parameter{Name: "description", Hint: "at most 2000 characters"}
	paramPhotoID     = form.Parameter{Name: "photoID", Hint: idHint, Syntax: form.IntegerSyntax}
)

// addAlbumPhotoRequest reads the parameters of addPhoto for an album.
func addAlbumPhotoRequest(in *Input) *albumv1.AddPhotoRequest {
	return &albumv1.AddPhotoRequest{
		RequestId: newRequestID(), ActorId: int64(in.User),
		AlbumId:      required(in, &paramPhotoOfAlbum, "album_id", form.ID),
		ThumbnailUrl: required(in, &paramThumbnail, "thumbnail_url", form.Text),
		Description:  optionalDescription(in),
	}
}

// addPoiPhotoRequest reads the parameters of addPhoto for a landmark.
func addPoiPhotoRequest(in *Input) *poiv1.AddPhotoRequest {
	return &poiv1.AddPhotoRequest{
		RequestId: newRequestID(), ActorId: int64(in.User),
		PoiId:       required(in, &paramPhotoOfPoi, "poi_id", form.ID),
		PhotoUrl:    required(in, &paramPhoto, "photo_url", form.Text),
		Description: optionalDescription(in),
	}
}

func optionalDescription(in *Input) string {
	return form.Or(optional(in, &paramDescription, "description", form.Text), "")
}

// writeNewPhoto writes the reply of addPhoto (rule 17.7).
func writeNewPhoto[Photo interface{ GetPhotoId() int64 }, Response interface{ GetPhoto() Photo }](out reply.Writer, response Response) {
	out.ID("photoID", response.GetPhoto().GetPhotoId(), "")
}

// removeAlbumPhotoRequest reads the parameters of removePhoto for an album.
func removeAlbumPhotoRequest(in *Input) *albumv1.RemovePhotoRequest {
	return &albumv1.RemovePhotoRequest{
		ActorId: int64(in.User),
		AlbumId: required(in, &paramPhotoOfAlbum, "album_id", form.ID),
		PhotoId: required(in, &paramPhotoID, "photo_id", form.ID),
	}
}

// removePoiPhotoRequest reads the parameters of removePhoto for a landmark.
func removePoiPhotoRequest(in *Input) *poiv1.RemovePhotoRequest {
	return &poiv1.RemovePhotoRequest{
		ActorId: int64(in.User),
		PoiId:   required(in, &paramPhotoOfPoi, "poi_id", form.ID),
		PhotoId: required(in, &paramPhotoID, "photo_id", form.ID),
	}
}
