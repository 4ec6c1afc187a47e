package blog

import (
	"context"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/platform/apierror"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// CastBallot votes for one choice of an entry's vote.
func (s *Server) CastBallot(ctx context.Context, request *blogv1.CastBallotRequest) (*blogv1.CastBallotResponse, error) {
	if _, err := s.profiles.Require(ctx, request.GetVoterId()); err != nil {
		return nil, err
	}
	found, err := s.blogs.Get(ctx, request.GetBlogId())
	if err != nil {
		return nil, err
	}
	if found.Vote == nil {
		return nil, apierror.NotFound("VOTE_NOT_FOUND", "entry %d holds no vote", found.ID)
	}
	if int(request.GetChoice()) > len(found.Vote.Choices) {
		return nil, apierror.NotFound("CHOICE_NOT_FOUND", "the vote of entry %d has %d choices", found.ID, len(found.Vote.Choices))
	}
	counted, err := s.ballots.Put(ctx, found.ID, request.GetVoterId(), func(present int32) (int32, error) {
		if present != choices.None && present != request.GetChoice() {
			return 0, apierror.New(codes.AlreadyExists, "ALREADY_VOTED", "user %d voted for choice %d already", request.GetVoterId(), present)
		}
		return request.GetChoice(), nil
	})
	if err != nil {
		return nil, err
	}
	return &blogv1.CastBallotResponse{Vote: voteProto(counted.Vote)}, nil
}
