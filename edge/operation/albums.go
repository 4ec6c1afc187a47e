package operation

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parameters of albums (rules 5.3 to 5.8).
var (
	paramAlbumID       = form.Parameter{Name: "albumID", Hint: idHint, Syntax: form.IntegerSyntax}
	paramAlbumTitle    = form.Parameter{Name: "albumTitle", Hint: titleHint}
	paramAlbumCategory = form.Parameter{Name: "category", Hint: "1 to 16", Syntax: form.IntegerSyntax}
	paramUserID        = form.Parameter{Name: "userID", Hint: idHint, Syntax: form.IntegerSyntax, Range: &form.Range{Min: 1, Max: maxID}}
)

// A failure names parameters in the order in which the functions below read them.

// createAlbumRequest reads the parameters of addAlbum (rules 5.3 and 5.4).
func createAlbumRequest(in *Input) *albumv1.CreateAlbumRequest {
	return &albumv1.CreateAlbumRequest{
		RequestId: newRequestID(),
		OwnerId:   int64(in.User),
		Title:     required(in, &paramAlbumTitle, "title", form.Text),
		Category:  required(in, &paramAlbumCategory, "category", form.Enum[albumv1.AlbumCategory]),
		Location:  requiredLocation(in),
	}
}

func writeNewAlbum(out reply.Writer, response *albumv1.CreateAlbumResponse) {
	out.ID("albumID", response.GetAlbum().GetAlbumId(), "")
}

// updateAlbumRequest reads the parameters of updateAlbum (rule 5.5). An absent parameter leaves
// the value unchanged (rule 5.6).
func updateAlbumRequest(in *Input) *albumv1.UpdateAlbumRequest {
	return &albumv1.UpdateAlbumRequest{
		ActorId:  int64(in.User),
		AlbumId:  required(in, &paramAlbumID, "album_id", form.ID),
		Title:    optional(in, &paramAlbumTitle, "title", form.Text),
		Category: optional(in, &paramAlbumCategory, "category", form.Enum[albumv1.AlbumCategory]),
		Lat:      optional(in, &paramLat, "lat", form.Decimal),
		Lng:      optional(in, &paramLng, "lng", form.Decimal),
	}
}

// deleteAlbumRequest reads only the identifier (rules 4.16 and 4.18).
func deleteAlbumRequest(in *Input) *albumv1.DeleteAlbumRequest {
	return &albumv1.DeleteAlbumRequest{
		ActorId: int64(in.User),
		AlbumId: required(in, &paramAlbumID, "album_id", form.ID),
	}
}

// getAlbumRequest reads the parameter of getAlbum (rule 5.7).
func getAlbumRequest(in *Input) *albumv1.GetAlbumRequest {
	return &albumv1.GetAlbumRequest{AlbumId: required(in, &paramAlbumID, "album_id", form.ID)}
}

// writeAlbum returns the function that writes an album.
func writeAlbum(ids ids) func(context.Context, *Config, *reply.Reply, *albumv1.GetAlbumResponse) error {
	comments := comments(ids)
	return func(ctx context.Context, c *Config, out *reply.Reply, response *albumv1.GetAlbumResponse) error {
		album := response.GetAlbum()
		if ids == withIDs {
			out.Integer("ownerID", album.GetOwner().GetUserId())
		}
		out.Text("albumTitle", album.GetTitle())
		out.Integer("category", int64(album.GetCategory()))
		writeOwned(out.Writer, album)
		err := writePages(ctx, c, out, albumPhotos, response.GetPhotos(), response.GetNextPhotosToken(),
			c.Photo.ListPhotos, (*photov1.ListPhotosResponse).GetPhotos,
			func() *photov1.ListPhotosRequest {
				return &photov1.ListPhotosRequest{Parent: &photov1.ListPhotosRequest_AlbumId{AlbumId: album.GetAlbumId()}}
			})
		if err != nil {
			return err
		}
		return writePages(ctx, c, out, comments, response.GetComments(), response.GetNextCommentsToken(),
			c.Comment.ListComments, (*commentv1.ListCommentsResponse).GetComments,
			func() *commentv1.ListCommentsRequest {
				return &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_AlbumId{AlbumId: album.GetAlbumId()}}
			})
	}
}

// owned is an album or a landmark.
type owned interface {
	GetLocation() *typev1.Location
	GetOwner() *typev1.Profile
	GetUpdateTime() *timestamppb.Timestamp
	GetScore() int64
}

// writeOwned writes what albums and landmarks have after their category (rules 5.7 and 6.5).
func writeOwned(out reply.Writer, content owned) {
	writeLocation(out, content.GetLocation())
	out.Text("ownerName", content.GetOwner().GetName())
	out.Text("ownerIcon", content.GetOwner().GetIconUrl())
	out.Day("updateDate", content.GetUpdateTime().AsTime())
	out.Integer("score", content.GetScore())
}

// albumPhotos writes the photos of an album (rule 5.1).
var albumPhotos = reply.List[*photov1.Photo]{Name: "photos", Item: "photo", WriteItem: func(out reply.Writer, photo *photov1.Photo) {
	out.ID("photoID", photo.GetPhotoId(), photo.GetOldId())
	out.Text("thumbnail", photo.GetUrl())
	out.Text("description", photo.GetDescription())
}}

// userAlbumsRequest reads the parameters of getUserAlbumList (rules 5.8, 9.2 and 9.4).
func userAlbumsRequest(in *Input) *albumv1.ListAlbumsRequest {
	return &albumv1.ListAlbumsRequest{
		View:         typev1.View_VIEW_SUMMARY,
		OwnerId:      required(in, &paramUserID, "owner_id", asUserID),
		PageSize:     limitAndNext(in),
		AfterAlbumId: form.Or(optional(in, &paramAfter, "after_album_id", form.ID), 0),
	}
}

// asUserID accepts the identifier of a user. The services take 0 for all users.
func asUserID(s string) (int64, bool) {
	value, ok := form.ParseInteger(s)
	return value, ok && paramUserID.Range.Includes(value)
}

var albumList = summaries("albumList", "album", "albumID", "albumTitle")
