package album

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// AddComment adds a comment to an album.
func (s *Server) AddComment(ctx context.Context, request *albumv1.AddCommentRequest) (*albumv1.AddCommentResponse, error) {
	added, err := s.albums.Comments.Post(ctx, request.GetAlbumId(), request)
	return &albumv1.AddCommentResponse{Comment: added}, err
}

// ReplyToComment sets the owner's answer to a comment.
func (s *Server) ReplyToComment(ctx context.Context, request *albumv1.ReplyToCommentRequest) (*albumv1.ReplyToCommentResponse, error) {
	answered, err := s.albums.Comments.Reply(ctx, request.GetAlbumId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	return &albumv1.ReplyToCommentResponse{Comment: answered}, err
}

// RemoveComment removes a comment.
func (s *Server) RemoveComment(ctx context.Context, request *albumv1.RemoveCommentRequest) (*albumv1.RemoveCommentResponse, error) {
	return &albumv1.RemoveCommentResponse{}, s.albums.Comments.Withdraw(ctx, request.GetAlbumId(), request.GetCommentId(), request.GetActorId())
}

// ListComments returns a page of an album's comments.
func (s *Server) ListComments(ctx context.Context, request *albumv1.ListCommentsRequest) (*albumv1.ListCommentsResponse, error) {
	shown, next, err := s.albums.Comments.List(ctx, request.GetAlbumId(), service.PageSize(request.GetPageSize(), comments.FirstPage, service.MaxPage), request.GetPageToken())
	return &albumv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, err
}

// Recommend recommends an album.
func (s *Server) Recommend(ctx context.Context, request *albumv1.RecommendRequest) (*albumv1.RecommendResponse, error) {
	score, err := s.albums.Recommendations.Recommend(ctx, request.GetAlbumId(), request.GetUserId())
	return &albumv1.RecommendResponse{Score: score}, err
}

// WithdrawRecommendation withdraws a recommendation.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *albumv1.WithdrawRecommendationRequest,
) (*albumv1.WithdrawRecommendationResponse, error) {
	score, err := s.albums.Recommendations.Withdraw(ctx, request.GetAlbumId(), request.GetUserId())
	return &albumv1.WithdrawRecommendationResponse{Score: score}, err
}

// ListRecommenders returns a page of the users who recommend an album.
func (s *Server) ListRecommenders(
	ctx context.Context, request *albumv1.ListRecommendersRequest,
) (*albumv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage, service.MaxPage)
	users, next, err := s.albums.Recommendations.List(ctx, request.GetAlbumId(), size, request.GetPageToken())
	return &albumv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, err
}
