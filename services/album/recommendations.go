package album

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/service"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// Recommend recommends an album.
func (s *Server) Recommend(ctx context.Context, request *albumv1.RecommendRequest) (*albumv1.RecommendResponse, error) {
	score, err := s.albums.Recommendations.Recommend(ctx, request.GetAlbumId(), request.GetUserId())
	if err != nil {
		return nil, err
	}
	return &albumv1.RecommendResponse{Score: score}, nil
}

// WithdrawRecommendation withdraws a recommendation.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *albumv1.WithdrawRecommendationRequest,
) (*albumv1.WithdrawRecommendationResponse, error) {
	score, err := s.albums.Recommendations.Withdraw(ctx, request.GetAlbumId(), request.GetUserId())
	if err != nil {
		return nil, err
	}
	return &albumv1.WithdrawRecommendationResponse{Score: score}, nil
}

// ListRecommenders returns a page of the users who recommend an album.
func (s *Server) ListRecommenders(
	ctx context.Context, request *albumv1.ListRecommendersRequest,
) (*albumv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage)
	users, next, err := s.albums.Recommendations.List(ctx, request.GetAlbumId(), size, request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &albumv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, nil
}
