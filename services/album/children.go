package album

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// AddPhoto adds a photo to an album.
func (s *server) AddPhoto(ctx context.Context, request *albumv1.AddPhotoRequest) (*albumv1.AddPhotoResponse, error) {
	added, err := s.photos.Add(ctx, request.GetActorId(), request.GetAlbumId(),
		docstore.Request{By: byPhotoRequest().First(request.GetAlbumId()), ID: request.GetRequestId(), Digest: service.Digest(request)},
		nil,
		func(id int64, requestKey string) photo {
			return photo{
				ID: id, AlbumID: request.GetAlbumId(), RequestKey: requestKey,
				ThumbnailURL: request.GetThumbnailUrl(), Description: request.GetDescription(),
			}
		})
	return &albumv1.AddPhotoResponse{Photo: photosProto(ctx, []photo{added})[0]}, err
}

// UpdatePhoto changes a photo of an album.
func (s *server) UpdatePhoto(ctx context.Context, request *albumv1.UpdatePhotoRequest) (*albumv1.UpdatePhotoResponse, error) {
	updated, err := s.photos.Update(ctx, request.GetActorId(), request.GetAlbumId(), request.GetPhotoId(), request.GetEtag(), func(p *photo) {
		if request.ThumbnailUrl != nil {
			p.ThumbnailURL = request.GetThumbnailUrl()
		}
		if request.Description != nil {
			p.Description = request.GetDescription()
		}
	})
	if err != nil {
		return nil, err
	}
	return &albumv1.UpdatePhotoResponse{Photo: photosProto(ctx, []photo{updated})[0]}, nil
}

// RemovePhoto removes a photo from an album.
func (s *server) RemovePhoto(ctx context.Context, request *albumv1.RemovePhotoRequest) (*albumv1.RemovePhotoResponse, error) {
	err := s.photos.Remove(ctx, request.GetAlbumId(), request.GetPhotoId(), request.GetEtag(),
		func(a *album, _ *photo) error { return s.albums.Allow(a, request.GetActorId(), a.ID) })
	if err != nil {
		return nil, err
	}
	return &albumv1.RemovePhotoResponse{}, nil
}

// ListPhotos returns a page of an album's photos.
func (s *server) ListPhotos(ctx context.Context, request *albumv1.ListPhotosRequest) (*albumv1.ListPhotosResponse, error) {
	page, err := s.photos.Page(ctx, request.GetAlbumId(), service.PageSize(request.GetPageSize(), firstPhotos, service.MaxPage), request.GetPageToken())
	return &albumv1.ListPhotosResponse{Photos: photosProto(ctx, page.Documents), NextPageToken: page.Next}, err
}

// etagOfPhoto returns the etag of a photo.
func etagOfPhoto(p *photo) string { return owned.EtagOfTexts(p.ThumbnailURL, p.Description) }

// AddComment adds a comment to an album.
func (s *server) AddComment(ctx context.Context, request *albumv1.AddCommentRequest) (*albumv1.AddCommentResponse, error) {
	added, err := s.albums.Comments.Post(ctx, request.GetAlbumId(), request)
	return &albumv1.AddCommentResponse{Comment: added}, err
}

// ReplyToComment sets the owner's answer to a comment.
func (s *server) ReplyToComment(ctx context.Context, request *albumv1.ReplyToCommentRequest) (*albumv1.ReplyToCommentResponse, error) {
	answered, err := s.albums.Comments.Reply(ctx, request.GetAlbumId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	return &albumv1.ReplyToCommentResponse{Comment: answered}, err
}

// RemoveComment removes a comment.
func (s *server) RemoveComment(ctx context.Context, request *albumv1.RemoveCommentRequest) (*albumv1.RemoveCommentResponse, error) {
	return &albumv1.RemoveCommentResponse{}, s.albums.Comments.Withdraw(ctx, request.GetAlbumId(), request.GetCommentId(), request.GetActorId())
}

// ListComments returns a page of an album's comments.
func (s *server) ListComments(ctx context.Context, request *albumv1.ListCommentsRequest) (*albumv1.ListCommentsResponse, error) {
	shown, next, err := s.albums.Comments.List(ctx, request.GetAlbumId(), service.PageSize(request.GetPageSize(), comments.FirstPage, service.MaxPage), request.GetPageToken())
	return &albumv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, err
}

// Recommend recommends an album.
func (s *server) Recommend(ctx context.Context, request *albumv1.RecommendRequest) (*albumv1.RecommendResponse, error) {
	score, err := s.albums.Recommendations.Recommend(ctx, request.GetAlbumId(), request.GetUserId())
	return &albumv1.RecommendResponse{Score: score}, err
}

// WithdrawRecommendation withdraws a recommendation.
func (s *server) WithdrawRecommendation(
	ctx context.Context, request *albumv1.WithdrawRecommendationRequest,
) (*albumv1.WithdrawRecommendationResponse, error) {
	score, err := s.albums.Recommendations.Withdraw(ctx, request.GetAlbumId(), request.GetUserId())
	return &albumv1.WithdrawRecommendationResponse{Score: score}, err
}

// ListRecommenders returns a page of the users who recommend an album.
func (s *server) ListRecommenders(
	ctx context.Context, request *albumv1.ListRecommendersRequest,
) (*albumv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage, service.MaxPage)
	users, next, err := s.albums.Recommendations.List(ctx, request.GetAlbumId(), size, request.GetPageToken())
	return &albumv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, err
}
