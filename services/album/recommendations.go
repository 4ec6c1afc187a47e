package album

import (
	"context"

	"github.com/waybook/waybook/internal/content/choices"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// recommended is what a user chooses who recommends an album.
const recommended int32 = 1

// Recommend recommends an album.
func (s *Server) Recommend(ctx context.Context, request *albumv1.RecommendRequest) (*albumv1.RecommendResponse, error) {
	if _, err := s.profiles.Require(ctx, request.GetUserId()); err != nil {
		return nil, err
	}
	counted, err := s.recommendations.Put(ctx, request.GetAlbumId(), request.GetUserId(), choices.Always(recommended))
	if err != nil {
		return nil, err
	}
	return &albumv1.RecommendResponse{Score: counted.Score}, nil
}

// WithdrawRecommendation takes a recommendation back.
func (s *Server) WithdrawRecommendation(
	ctx context.Context, request *albumv1.WithdrawRecommendationRequest,
) (*albumv1.WithdrawRecommendationResponse, error) {
	counted, err := s.recommendations.Put(ctx, request.GetAlbumId(), request.GetUserId(), choices.Always(choices.None))
	if err != nil {
		return nil, err
	}
	return &albumv1.WithdrawRecommendationResponse{Score: counted.Score}, nil
}
