package blog

import (
	"context"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/content/comments"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// AddComment adds a comment to an entry.
func (s *server) AddComment(ctx context.Context, request *blogv1.AddCommentRequest) (*blogv1.AddCommentResponse, error) {
	added, err := s.blogs.Comments.Post(ctx, request.GetBlogId(), request)
	return &blogv1.AddCommentResponse{Comment: added}, err
}

// ReplyToComment sets the author's answer to a comment.
func (s *server) ReplyToComment(ctx context.Context, request *blogv1.ReplyToCommentRequest) (*blogv1.ReplyToCommentResponse, error) {
	answered, err := s.blogs.Comments.Reply(ctx, request.GetBlogId(), request.GetCommentId(), request.GetActorId(), request.GetText())
	return &blogv1.ReplyToCommentResponse{Comment: answered}, err
}

// RemoveComment removes a comment.
func (s *server) RemoveComment(ctx context.Context, request *blogv1.RemoveCommentRequest) (*blogv1.RemoveCommentResponse, error) {
	return &blogv1.RemoveCommentResponse{}, s.blogs.Comments.Withdraw(ctx, request.GetBlogId(), request.GetCommentId(), request.GetActorId())
}

// ListComments returns a page of an entry's comments.
func (s *server) ListComments(ctx context.Context, request *blogv1.ListCommentsRequest) (*blogv1.ListCommentsResponse, error) {
	shown, next, err := s.blogs.Comments.List(ctx, request.GetBlogId(), service.PageSize(request.GetPageSize(), comments.FirstPage, service.MaxPage), request.GetPageToken())
	return &blogv1.ListCommentsResponse{Comments: shown, NextPageToken: next}, err
}

// Recommend recommends an entry.
func (s *server) Recommend(ctx context.Context, request *blogv1.RecommendRequest) (*blogv1.RecommendResponse, error) {
	score, err := s.blogs.Recommendations.Recommend(ctx, request.GetBlogId(), request.GetUserId())
	return &blogv1.RecommendResponse{Score: score}, err
}

// WithdrawRecommendation withdraws a recommendation.
func (s *server) WithdrawRecommendation(
	ctx context.Context, request *blogv1.WithdrawRecommendationRequest,
) (*blogv1.WithdrawRecommendationResponse, error) {
	score, err := s.blogs.Recommendations.Withdraw(ctx, request.GetBlogId(), request.GetUserId())
	return &blogv1.WithdrawRecommendationResponse{Score: score}, err
}

// ListRecommenders returns a page of the users who recommend an entry.
func (s *server) ListRecommenders(
	ctx context.Context, request *blogv1.ListRecommendersRequest,
) (*blogv1.ListRecommendersResponse, error) {
	size := service.PageSize(request.GetPageSize(), content.ChoicesPage, service.MaxPage)
	users, next, err := s.blogs.Recommendations.List(ctx, request.GetBlogId(), size, request.GetPageToken())
	return &blogv1.ListRecommendersResponse{Recommenders: users, NextPageToken: next}, err
}

// CastBallot votes for one choice of an entry's vote.
func (s *server) CastBallot(ctx context.Context, request *blogv1.CastBallotRequest) (*blogv1.CastBallotResponse, error) {
	if _, err := s.profiles.Require(ctx, request.GetVoterId()); err != nil {
		return nil, err
	}
	counted, err := s.ballots.Put(ctx, request.GetBlogId(), request.GetVoterId(), func(b *blog, present int32) (int32, error) {
		switch {
		case b.Vote == nil:
			return 0, noVote(b.ID)
		case int(request.GetChoice()) > len(b.Vote.Choices):
			return 0, apierror.NotFound("CHOICE_NOT_FOUND", "the vote of entry %d has %d choices", b.ID, len(b.Vote.Choices))
		case present != choices.None && present != request.GetChoice():
			return 0, apierror.New(codes.AlreadyExists, "ALREADY_VOTED", "user %d voted for choice %d already", request.GetVoterId(), present)
		}
		return request.GetChoice(), nil
	})
	if err != nil {
		return nil, err
	}
	return &blogv1.CastBallotResponse{Vote: voteProto(counted.Vote)}, nil
}

// ListBallots returns a page of the ballots in an entry's vote.
func (s *server) ListBallots(ctx context.Context, request *blogv1.ListBallotsRequest) (*blogv1.ListBallotsResponse, error) {
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
