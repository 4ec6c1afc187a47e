package poi

import (
	"context"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/service"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Recommend recommends a landmark.
func (s *Server) Recommend(ctx context.Context, request *poiv1.RecommendRequest) (*poiv1.RecommendResponse, error) {
	score, err := s.pois.Recommendations.Recommend(ctx, request.GetPoiId(), request.GetUserId())
	if err != nil {
		return nil, err
	}
	return &poiv1.RecommendResponse{Score: score}, nil
}

// WithdrawRecommendation withdraws a recommendation.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *poiv1.WithdrawRecommendationRequest,
) (*poiv1.WithdrawRecommendationResponse, error) {
	score, err := s.pois.Recommendations.Withdraw(ctx, request.GetPoiId(), request.GetUserId())
	if err != nil {
		return nil, err
	}
	return &poiv1.WithdrawRecommendationResponse{Score: score}, nil
}

// ListRecommenders returns a page of the users who recommend a landmark.
func (s *Server) ListRecommenders(
	ctx context.Context, request *poiv1.ListRecommendersRequest,
) (*poiv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage)
	users, next, err := s.pois.Recommendations.List(ctx, request.GetPoiId(), size, request.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &poiv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, nil
}
