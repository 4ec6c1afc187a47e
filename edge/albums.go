package edge

import (
	"context"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The order in which a request reads its parameters is the order in which a
// failure names them.

// createAlbumRequest: contract 4.3.
func createAlbumRequest(in *input) *albumv1.CreateAlbumRequest {
	return &albumv1.CreateAlbumRequest{
		RequestId: newRequestID(),
		OwnerId:   int64(in.user),
		Title:     required(in, &paramAlbumTitle, asText),
		Category:  required(in, &paramAlbumCategory, asNumber[albumv1.AlbumCategory]),
		Location:  requiredLocation(in),
	}
}

func writeNewAlbum(out reply, response *albumv1.CreateAlbumResponse) {
	out.integer("albumID", response.GetAlbum().GetAlbumId())
}

// updateAlbumRequest: contract 4.4. What is absent stays as it was.
func updateAlbumRequest(in *input) *albumv1.UpdateAlbumRequest {
	return &albumv1.UpdateAlbumRequest{
		ActorId:  int64(in.user),
		AlbumId:  required(in, &paramAlbumID, asID),
		Title:    optional(in, &paramAlbumTitle, asText),
		Category: optional(in, &paramAlbumCategory, asNumber[albumv1.AlbumCategory]),
		Lat:      optional(in, &paramLat, asDecimal),
		Lng:      optional(in, &paramLng, asDecimal),
	}
}

// deleteAlbumRequest: contract 4.5.
func deleteAlbumRequest(in *input) *albumv1.DeleteAlbumRequest {
	return &albumv1.DeleteAlbumRequest{
		ActorId: int64(in.user),
		AlbumId: required(in, &paramAlbumID, asID),
	}
}

// getAlbumRequest: contract 4.6.
func getAlbumRequest(in *input) *albumv1.GetAlbumRequest {
	return &albumv1.GetAlbumRequest{AlbumId: required(in, &paramAlbumID, asID)}
}

func writeAlbum(albums albumv1.AlbumServiceClient) func(*exchange, *albumv1.GetAlbumResponse) error {
	return func(x *exchange, response *albumv1.GetAlbumResponse) error {
		album := response.GetAlbum()
		x.out.text("albumTitle", album.GetTitle())
		x.out.integer("category", int64(album.GetCategory()))
		writeLocation(x.out, album.GetLocation())
		x.out.text("ownerName", album.GetOwner().GetName())
		x.out.text("ownerIcon", album.GetOwner().GetIconUrl())
		x.out.day("updateDate", album.GetUpdateTime())
		x.out.integer("score", album.GetScore())
		err := albumPhotos.writePages(x, response.GetPhotos(), response.GetNextPhotosToken(),
			func(ctx context.Context, token string) ([]*albumv1.Photo, string, error) {
				page, err := albums.ListPhotos(ctx, &albumv1.ListPhotosRequest{
					AlbumId: album.GetAlbumId(), PageSize: pageSize, PageToken: token,
				})
				return page.GetPhotos(), page.GetNextPageToken(), err
			})
		if err != nil {
			return err
		}
		return comments.writePages(x, response.GetComments(), response.GetNextCommentsToken(),
			func(ctx context.Context, token string) ([]*typev1.Comment, string, error) {
				page, err := albums.ListComments(ctx, &albumv1.ListCommentsRequest{
					AlbumId: album.GetAlbumId(), PageSize: pageSize, PageToken: token,
				})
				return page.GetComments(), page.GetNextPageToken(), err
			})
	}
}

// albumPhotos: contract 2.2.
var albumPhotos = list[*albumv1.Photo]{"photos", "photo", func(out reply, photo *albumv1.Photo) {
	out.integer("photoID", photo.GetPhotoId())
	out.text("thumbnail", photo.GetThumbnailUrl())
	out.text("description", photo.GetDescription())
}}

// streamAlbumsRequest: contract 4.7.
func streamAlbumsRequest(in *input) *albumv1.StreamAlbumsRequest {
	return &albumv1.StreamAlbumsRequest{
		OwnerId:      required(in, &paramUserID, asID),
		Limit:        askedLimit(in),
		AfterAlbumId: valueOr(optional(in, &paramAfter, asID), 0),
	}
}

func albumsOfBatch(batch *albumv1.StreamAlbumsResponse) []*albumv1.AlbumSummary {
	return batch.GetAlbums()
}

var albumList = list[*albumv1.AlbumSummary]{"albumList", "album", func(out reply, album *albumv1.AlbumSummary) {
	out.integer("albumID", album.GetAlbumId())
	out.text("albumTitle", album.GetTitle())
}}
