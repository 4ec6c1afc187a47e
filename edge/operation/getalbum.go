package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

// getAlbum reads an album with its photos and comments (rules 5.7 and 17.15).
func getAlbum(c *Config) Function {
	return Function{
		Name: "getAlbum", Rule: "5.7", Title: form.Title{"Read an album", "讀取相簿"}, Effect: Reads,
		Operations: withAndWithoutIDs(c, func(in *Input) *albumv1.GetAlbumRequest {
			return &albumv1.GetAlbumRequest{AlbumId: required(in, &paramAlbumID, "album_id", form.ID)}
		}, c.Album.GetAlbum, writeAlbum),
	}
}

func writeAlbum(variant Variant) func(context.Context, *Config, *reply.Reply, *albumv1.GetAlbumResponse) error {
	comments := comments(variant)
	return func(ctx context.Context, c *Config, out *reply.Reply, response *albumv1.GetAlbumResponse) error {
		album := response.GetAlbum()
		if variant == WithIDs {
			out.Integer("ownerID", album.GetOwner().GetUserId())
		}
		out.Text("albumTitle", album.GetTitle())
		out.Integer("category", int64(album.GetCategory()))
		writeOwned(out.Writer, album)
		of := contentID{"album_id", album.GetAlbumId()}
		err := writePhotos(ctx, c, out, albumPhotos, of, response.GetPhotos(), response.GetNextPhotosToken())
		if err != nil {
			return err
		}
		return writeComments(ctx, c, out, comments, of, response.GetComments(), response.GetNextCommentsToken())
	}
}

// albumPhotos writes the photos of an album (rule 5.1).
var albumPhotos = reply.List[*photov1.Photo]{Name: "photos", Item: "photo",
	WriteItem: func(out reply.Writer, photo *photov1.Photo) {
		out.ID("photoID", photo.GetPhotoId(), photo.GetOldId())
		out.Text("thumbnail", photo.GetUrl())
		out.Text("description", photo.GetDescription())
	}}
