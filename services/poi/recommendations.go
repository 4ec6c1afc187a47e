package poi

import (
	"context"

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
