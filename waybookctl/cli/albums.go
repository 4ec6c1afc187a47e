package cli

import (
	"context"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// albums implements content and pictured for the album service.
type albums struct{}

func (albums) owner(ctx context.Context, call *services, id int64) (int64, error) {
	found, err := call.album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: id})
	return found.GetAlbum().GetOwner().GetUserId(), err
}

func (albums) delete(ctx context.Context, call *services, actor, id int64) error {
	_, err := call.album.DeleteAlbum(ctx, &albumv1.DeleteAlbumRequest{ActorId: actor, AlbumId: id})
	return err
}

func (albums) recommend(ctx context.Context, call *services, user, id int64) (int64, error) {
	done, err := call.album.Recommend(ctx, &albumv1.RecommendRequest{UserId: user, AlbumId: id})
	return done.GetScore(), err
}

func (albums) withdraw(ctx context.Context, call *services, user, id int64) (int64, error) {
	done, err := call.album.WithdrawRecommendation(ctx, &albumv1.WithdrawRecommendationRequest{UserId: user, AlbumId: id})
	return done.GetScore(), err
}

func (albums) comments(ctx context.Context, call *services, id int64, page pageOf) ([]*typev1.Comment, string, error) {
	listed, err := call.album.ListComments(ctx, &albumv1.ListCommentsRequest{AlbumId: id, PageSize: page.size, PageToken: page.token})
	return listed.GetComments(), listed.GetNextPageToken(), err
}

func (albums) addComment(ctx context.Context, call *services, author, id int64, text string) (*typev1.Comment, error) {
	added, err := call.album.AddComment(ctx, &albumv1.AddCommentRequest{AuthorId: author, AlbumId: id, Text: text})
	return added.GetComment(), err
}

func (albums) reply(ctx context.Context, call *services, actor, id, comment int64, text string) (*typev1.Comment, error) {
	answered, err := call.album.ReplyToComment(ctx, &albumv1.ReplyToCommentRequest{
		ActorId: actor, AlbumId: id, CommentId: comment, Text: text,
	})
	return answered.GetComment(), err
}

func (albums) removeComment(ctx context.Context, call *services, actor, id, comment int64) error {
	_, err := call.album.RemoveComment(ctx, &albumv1.RemoveCommentRequest{ActorId: actor, AlbumId: id, CommentId: comment})
	return err
}

func (albums) photos(ctx context.Context, call *services, id int64, page pageOf) ([]*albumv1.Photo, string, error) {
	listed, err := call.album.ListPhotos(ctx, &albumv1.ListPhotosRequest{AlbumId: id, PageSize: page.size, PageToken: page.token})
	return listed.GetPhotos(), listed.GetNextPageToken(), err
}

func (albums) addPhoto(ctx context.Context, call *services, actor, id int64, url, description string) (*albumv1.Photo, error) {
	added, err := call.album.AddPhoto(ctx, &albumv1.AddPhotoRequest{
		ActorId: actor, AlbumId: id, ThumbnailUrl: url, Description: description,
	})
	return added.GetPhoto(), err
}

func (albums) removePhoto(ctx context.Context, call *services, actor, id, photo int64) error {
	_, err := call.album.RemovePhoto(ctx, &albumv1.RemovePhotoRequest{ActorId: actor, AlbumId: id, PhotoId: photo})
	return err
}

func (albums) photoColumns() []output.Column[*albumv1.Photo] {
	return []output.Column[*albumv1.Photo]{
		{Head: "PHOTO", Cell: func(p *albumv1.Photo) string { return number(p.GetPhotoId()) }},
		{Head: "URL", Cell: (*albumv1.Photo).GetThumbnailUrl},
		{Head: "DESCRIPTION", Cell: (*albumv1.Photo).GetDescription},
	}
}
