package poi

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// AddComment adds a comment to a landmark.
func (s *Server) AddComment(ctx context.Context, request *poiv1.AddCommentRequest) (*poiv1.AddCommentResponse, error) {
	added, err := s.pois.Comments.Post(ctx, request.GetPoiId(), request)
	return &poiv1.AddCommentResponse{Comment: added}, err
}

// ReplyToComment sets the owner's answer to a comment.
func (s *Server) ReplyToComment(ctx context.Context, request *poiv1.ReplyToCommentRequest) (*poiv1.ReplyToCommentResponse, error) {
	answered, err := s.pois.Comments.Reply(ctx, request.GetPoiId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	return &poiv1.ReplyToCommentResponse{Comment: answered}, err
}

// RemoveComment removes a comment.
func (s *Server) RemoveComment(ctx context.Context, request *poiv1.RemoveCommentRequest) (*poiv1.RemoveCommentResponse, error) {
	return &poiv1.RemoveCommentResponse{}, s.pois.Comments.Withdraw(ctx, request.GetPoiId(), request.GetCommentId(), request.GetActorId())
}

// ListComments returns a page of a landmark's comments.
func (s *Server) ListComments(ctx context.Context, request *poiv1.ListCommentsRequest) (*poiv1.ListCommentsResponse, error) {
	shown, next, err := s.pois.Comments.List(ctx, request.GetPoiId(), service.PageSize(request.GetPageSize(), comments.FirstPage, service.MaxPage), request.GetPageToken())
	return &poiv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, err
}

// Recommend recommends a landmark.
func (s *Server) Recommend(ctx context.Context, request *poiv1.RecommendRequest) (*poiv1.RecommendResponse, error) {
	score, err := s.pois.Recommendations.Recommend(ctx, request.GetPoiId(), request.GetUserId())
	return &poiv1.RecommendResponse{Score: score}, err
}

// WithdrawRecommendation withdraws a recommendation.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *poiv1.WithdrawRecommendationRequest,
) (*poiv1.WithdrawRecommendationResponse, error) {
	score, err := s.pois.Recommendations.Withdraw(ctx, request.GetPoiId(), request.GetUserId())
	return &poiv1.WithdrawRecommendationResponse{Score: score}, err
}

// ListRecommenders returns a page of the users who recommend a landmark.
func (s *Server) ListRecommenders(
	ctx context.Context, request *poiv1.ListRecommendersRequest,
) (*poiv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage, service.MaxPage)
	users, next, err := s.pois.Recommendations.List(ctx, request.GetPoiId(), size, request.GetPageToken())
	return &poiv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, err
}
