package blog

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// Recommend recommends an entry.
func (s *Server) Recommend(ctx context.Context, request *blogv1.RecommendRequest) (*blogv1.RecommendResponse, error) {
	score, err := s.blogs.Recommendations.Recommend(ctx, request.GetBlogId(), request.GetUserId())
	if err != nil {
		return nil, err
	}
	return &blogv1.RecommendResponse{Score: score}, nil
}

// WithdrawRecommendation withdraws a recommendation.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *blogv1.WithdrawRecommendationRequest,
) (*blogv1.WithdrawRecommendationResponse, error) {
	score, err := s.blogs.Recommendations.Withdraw(ctx, request.GetBlogId(), request.GetUserId())
	if err != nil {
		return nil, err
	}
	return &blogv1.WithdrawRecommendationResponse{Score: score}, nil
}

// ListRecommenders returns a page of the users who recommend an entry.
func (s *Server) ListRecommenders(
	ctx context.Context, request *blogv1.ListRecommendersRequest,
) (*blogv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage)
	users, next, err := s.blogs.Recommendations.List(ctx, request.GetBlogId(), size, request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &blogv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, nil
}
