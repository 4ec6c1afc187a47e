package blog

import (
	"context"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// CastBallot votes for one choice of an entry's vote.
func (s *server) CastBallot(ctx context.Context,
	request *blogv1.CastBallotRequest) (*blogv1.CastBallotResponse, error) {
	if _, err := s.profiles.Require(ctx, request.GetVoterId()); err != nil {
		return nil, err
	}
	counted, err := s.ballots.Put(ctx, request.GetBlogId(), request.GetVoterId(),
		func(b *blog, present int32) (int32, error) {
			switch {
			case b.Vote == nil:
				return 0, noVote(b.ID)
			case int(request.GetChoice()) > len(b.Vote.Choices):
				return 0, apierror.NotFound("CHOICE_NOT_FOUND", "the vote of entry %d has %d choices", b.ID,
					len(b.Vote.Choices))
			case present != choices.None && present != request.GetChoice():
				return 0, apierror.New(codes.AlreadyExists, "ALREADY_VOTED", "user %d voted for choice %d already",
					request.GetVoterId(), present)
			}
			return request.GetChoice(), nil
		})
	if err != nil {
		return nil, err
	}
	return &blogv1.CastBallotResponse{Vote: voteProto(counted.Vote)}, nil
}

// ListBallots returns a page of the ballots in an entry's vote.
func (s *server) ListBallots(ctx context.Context,
	request *blogv1.ListBallotsRequest) (*blogv1.ListBallotsResponse, error) {
	if found, err := s.blogs.Get(ctx, request.GetBlogId()); err != nil {
		return nil, err
	} else if found.Vote == nil {
		return nil, noVote(found.ID)
	}
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage, service.MaxPage)
	listed, next, err := s.ballots.List(ctx, request.GetBlogId(), size, request.GetPageToken())
	if err != nil {
		return nil, err
	}
	voters := s.profiles.Show(ctx, choices.Users(listed)...)
	ballots := make([]*blogv1.Ballot, len(listed))
	for i, choice := range listed {
		ballots[i] = &blogv1.Ballot{Voter: voters.Of(choice.UserID()).Proto(choice.UserID()), Choice: choice.Wanted}
	}
	return &blogv1.ListBallotsResponse{Ballots: ballots, NextPageToken: next}, nil
}

func noVote(blogID int64) error {
	return apierror.NotFound("VOTE_NOT_FOUND", "entry %d holds no vote", blogID)
}
