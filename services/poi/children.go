package poi

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// AddPhoto adds a photo to a landmark.
func (s *server) AddPhoto(ctx context.Context, request *poiv1.AddPhotoRequest) (*poiv1.AddPhotoResponse, error) {
	added, err := s.photos.Add(ctx, request.GetActorId(), request.GetPoiId(),
		docstore.Request{By: byPhotoRequest().First(request.GetPoiId()), ID: request.GetRequestId(), Digest: service.Digest(request)},
		nil,
		func(id int64, requestKey string) photo {
			return photo{
				ID: id, PoiID: request.GetPoiId(), RequestKey: requestKey,
				URL: request.GetPhotoUrl(), Description: request.GetDescription(),
			}
		})
	return &poiv1.AddPhotoResponse{Photo: photosProto(ctx, []photo{added})[0]}, err
}

// UpdatePhoto changes a photo of a landmark.
func (s *server) UpdatePhoto(ctx context.Context, request *poiv1.UpdatePhotoRequest) (*poiv1.UpdatePhotoResponse, error) {
	updated, err := s.photos.Update(ctx, request.GetActorId(), request.GetPoiId(), request.GetPhotoId(), request.GetEtag(), func(p *photo) {
		if request.PhotoUrl != nil {
			p.URL = request.GetPhotoUrl()
		}
		if request.Description != nil {
			p.Description = request.GetDescription()
		}
	})
	if err != nil {
		return nil, err
	}
	return &poiv1.UpdatePhotoResponse{Photo: photosProto(ctx, []photo{updated})[0]}, nil
}

// RemovePhoto removes a photo from a landmark.
func (s *server) RemovePhoto(ctx context.Context, request *poiv1.RemovePhotoRequest) (*poiv1.RemovePhotoResponse, error) {
	err := s.photos.Remove(ctx, request.GetPoiId(), request.GetPhotoId(), request.GetEtag(),
		func(p *poi, _ *photo) error { return s.pois.Allow(p, request.GetActorId(), p.ID) })
	if err != nil {
		return nil, err
	}
	return &poiv1.RemovePhotoResponse{}, nil
}

// ListPhotos returns a page of a landmark's photos.
func (s *server) ListPhotos(ctx context.Context, request *poiv1.ListPhotosRequest) (*poiv1.ListPhotosResponse, error) {
	page, err := s.photos.Page(ctx, request.GetPoiId(), service.PageSize(request.GetPageSize(), firstPhotos, service.MaxPage), request.GetPageToken())
	return &poiv1.ListPhotosResponse{Photos: photosProto(ctx, page.Documents), NextPageToken: page.Next}, err
}

// etagOfPhoto returns the etag of a photo.
func etagOfPhoto(p *photo) string { return owned.EtagOfTexts(p.URL, p.Description) }

// AddComment adds a comment to a landmark.
func (s *server) AddComment(ctx context.Context, request *poiv1.AddCommentRequest) (*poiv1.AddCommentResponse, error) {
	added, err := s.pois.Comments.Post(ctx, request.GetPoiId(), request)
	return &poiv1.AddCommentResponse{Comment: added}, err
}

// ReplyToComment sets the owner's answer to a comment.
func (s *server) ReplyToComment(ctx context.Context, request *poiv1.ReplyToCommentRequest) (*poiv1.ReplyToCommentResponse, error) {
	answered, err := s.pois.Comments.Reply(ctx, request.GetPoiId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	return &poiv1.ReplyToCommentResponse{Comment: answered}, err
}

// RemoveComment removes a comment.
func (s *server) RemoveComment(ctx context.Context, request *poiv1.RemoveCommentRequest) (*poiv1.RemoveCommentResponse, error) {
	return &poiv1.RemoveCommentResponse{}, s.pois.Comments.Withdraw(ctx, request.GetPoiId(), request.GetCommentId(), request.GetActorId())
}

// ListComments returns a page of a landmark's comments.
func (s *server) ListComments(ctx context.Context, request *poiv1.ListCommentsRequest) (*poiv1.ListCommentsResponse, error) {
	shown, next, err := s.pois.Comments.List(ctx, request.GetPoiId(), service.PageSize(request.GetPageSize(), comments.FirstPage, service.MaxPage), request.GetPageToken())
	return &poiv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, err
}

// Recommend recommends a landmark.
func (s *server) Recommend(ctx context.Context, request *poiv1.RecommendRequest) (*poiv1.RecommendResponse, error) {
	score, err := s.pois.Recommendations.Recommend(ctx, request.GetPoiId(), request.GetUserId())
	return &poiv1.RecommendResponse{Score: score}, err
}

// WithdrawRecommendation withdraws a recommendation.
func (s *server) WithdrawRecommendation(
	ctx context.Context, request *poiv1.WithdrawRecommendationRequest,
) (*poiv1.WithdrawRecommendationResponse, error) {
	score, err := s.pois.Recommendations.Withdraw(ctx, request.GetPoiId(), request.GetUserId())
	return &poiv1.WithdrawRecommendationResponse{Score: score}, err
}

// ListRecommenders returns a page of the users who recommend a landmark.
func (s *server) ListRecommenders(
	ctx context.Context, request *poiv1.ListRecommendersRequest,
) (*poiv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage, service.MaxPage)
	users, next, err := s.pois.Recommendations.List(ctx, request.GetPoiId(), size, request.GetPageToken())
	return &poiv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, err
}
