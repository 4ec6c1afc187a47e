package operation

import (
	"github.com/waybook/waybook/edge/form"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// updateAlbum changes an album (rules 5.5 and 5.6) or deletes it (rules 4.16 to 4.19).
func updateAlbum(c *Config) Function {
	return Function{
		Name: "updateAlbum", Rule: "5.5", Title: form.Title{"Change an album", "修改相簿"}, Effect: Writes,
		Operations: []Operation{
			{handler: unary(c, func(in *Input) *albumv1.UpdateAlbumRequest {
				return &albumv1.UpdateAlbumRequest{
					ActorId:  int64(in.User),
					AlbumId:  required(in, &paramAlbumID, "album_id", form.ID),
					Title:    optional(in, &paramAlbumTitle, "title", form.Text),
					Category: optional(in, &paramAlbumCategory, "category", form.Enum[albumv1.AlbumCategory]),
					Lat:      optional(in, &paramLat, "lat", form.Decimal),
					Lng:      optional(in, &paramLng, "lng", form.Decimal),
				}
			}, c.Album.UpdateAlbum, writeNothing)},
			{
				Variant: Deleting, Rule: "4.16", Title: form.Title{"Delete an album", "刪除相簿"},
				handler: unary(c, func(in *Input) *albumv1.DeleteAlbumRequest {
					return &albumv1.DeleteAlbumRequest{ActorId: int64(in.User),
						AlbumId: required(in, &paramAlbumID, "album_id", form.ID)}
				}, c.Album.DeleteAlbum, writeNothing),
			},
		},
	}
}
