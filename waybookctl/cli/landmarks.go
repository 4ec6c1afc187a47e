package cli

import (
	"context"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

// landmarks implements content and pictured for the POI service.
type landmarks struct{}

func (landmarks) owner(ctx context.Context, call *services, id int64) (int64, error) {
	found, err := call.poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: id})
	return found.GetPoi().GetOwner().GetUserId(), err
}

func (landmarks) delete(ctx context.Context, call *services, actor, id int64) error {
	_, err := call.poi.DeletePoi(ctx, &poiv1.DeletePoiRequest{ActorId: actor, PoiId: id})
	return err
}

func (landmarks) recommend(ctx context.Context, call *services, user, id int64) (int64, error) {
	done, err := call.poi.Recommend(ctx, &poiv1.RecommendRequest{UserId: user, PoiId: id})
	return done.GetScore(), err
}

func (landmarks) withdraw(ctx context.Context, call *services, user, id int64) (int64, error) {
	done, err := call.poi.WithdrawRecommendation(ctx, &poiv1.WithdrawRecommendationRequest{UserId: user, PoiId: id})
	return done.GetScore(), err
}

func (landmarks) comments(ctx context.Context, call *services, id int64, page pageOf) ([]*typev1.Comment, string, error) {
	listed, err := call.poi.ListComments(ctx, &poiv1.ListCommentsRequest{PoiId: id, PageSize: page.size, PageToken: page.token})
	return listed.GetComments(), listed.GetNextPageToken(), err
}

func (landmarks) addComment(ctx context.Context, call *services, author, id int64, text string) (*typev1.Comment, error) {
	added, err := call.poi.AddComment(ctx, &poiv1.AddCommentRequest{AuthorId: author, PoiId: id, Text: text})
	return added.GetComment(), err
}

func (landmarks) reply(ctx context.Context, call *services, actor, id, comment int64, text string) (*typev1.Comment, error) {
	answered, err := call.poi.ReplyToComment(ctx, &poiv1.ReplyToCommentRequest{
		ActorId: actor, PoiId: id, CommentId: comment, Text: text,
	})
	return answered.GetComment(), err
}

func (landmarks) removeComment(ctx context.Context, call *services, actor, id, comment int64) error {
	_, err := call.poi.RemoveComment(ctx, &poiv1.RemoveCommentRequest{ActorId: actor, PoiId: id, CommentId: comment})
	return err
}

func (landmarks) photos(ctx context.Context, call *services, id int64, page pageOf) ([]*poiv1.Photo, string, error) {
	listed, err := call.poi.ListPhotos(ctx, &poiv1.ListPhotosRequest{PoiId: id, PageSize: page.size, PageToken: page.token})
	return listed.GetPhotos(), listed.GetNextPageToken(), err
}

func (landmarks) addPhoto(ctx context.Context, call *services, actor, id int64, url, description string) (*poiv1.Photo, error) {
	added, err := call.poi.AddPhoto(ctx, &poiv1.AddPhotoRequest{
		ActorId: actor, PoiId: id, PhotoUrl: url, Description: description,
	})
	return added.GetPhoto(), err
}

func (landmarks) removePhoto(ctx context.Context, call *services, actor, id, photo int64) error {
	_, err := call.poi.RemovePhoto(ctx, &poiv1.RemovePhotoRequest{ActorId: actor, PoiId: id, PhotoId: photo})
	return err
}

func (landmarks) photoColumns() []output.Column[*poiv1.Photo] {
	return []output.Column[*poiv1.Photo]{
		{Head: "PHOTO", Cell: func(p *poiv1.Photo) string { return number(p.GetPhotoId()) }},
		{Head: "URL", Cell: (*poiv1.Photo).GetPhotoUrl},
		{Head: "DESCRIPTION", Cell: (*poiv1.Photo).GetDescription},
	}
}
