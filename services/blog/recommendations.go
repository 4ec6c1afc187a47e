package blog

import (
	"context"

	"github.com/waybook/waybook/internal/content/choices"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// recommended is what a user chooses who recommends an entry.
const recommended int32 = 1

// Recommend recommends an entry.
func (s *Server) Recommend(ctx context.Context, request *blogv1.RecommendRequest) (*blogv1.RecommendResponse, error) {
	if _, err := s.profiles.Require(ctx, request.GetUserId()); err != nil {
		return nil, err
	}
	counted, err := s.recommendations.Put(ctx, request.GetBlogId(), request.GetUserId(), choices.Always(recommended))
	if err != nil {
		return nil, err
	}
	return &blogv1.RecommendResponse{Score: counted.Score}, nil
}

// WithdrawRecommendation takes a recommendation back.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *blogv1.WithdrawRecommendationRequest,
) (*blogv1.WithdrawRecommendationResponse, error) {
	counted, err := s.recommendations.Put(ctx, request.GetBlogId(), request.GetUserId(), choices.Always(choices.None))
	if err != nil {
		return nil, err
	}
	return &blogv1.WithdrawRecommendationResponse{Score: counted.Score}, nil
}
