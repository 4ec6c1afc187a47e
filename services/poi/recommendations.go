package poi

import (
	"context"

	"github.com/waybook/waybook/internal/content/choices"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// recommended is what a user chooses who recommends a landmark.
const recommended int32 = 1

// Recommend recommends a landmark.
func (s *Server) Recommend(ctx context.Context, request *poiv1.RecommendRequest) (*poiv1.RecommendResponse, error) {
	if _, err := s.profiles.Require(ctx, request.GetUserId()); err != nil {
		return nil, err
	}
	counted, err := s.recommendations.Put(ctx, request.GetPoiId(), request.GetUserId(), choices.Always(recommended))
	if err != nil {
		return nil, err
	}
	return &poiv1.RecommendResponse{Score: counted.Score}, nil
}

// WithdrawRecommendation takes a recommendation back.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *poiv1.WithdrawRecommendationRequest,
) (*poiv1.WithdrawRecommendationResponse, error) {
	counted, err := s.recommendations.Put(ctx, request.GetPoiId(), request.GetUserId(), choices.Always(choices.None))
	if err != nil {
		return nil, err
	}
	return &poiv1.WithdrawRecommendationResponse{Score: counted.Score}, nil
}
