package blog

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/fault"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// errCounted ends an update that finds the ballot counted already.
var errCounted = errors.New("ballot is counted")

// CastBallot counts a user's vote exactly once, whatever is repeated, runs at the
// same time or crashes in between, with single-document writes only. A ballot is
// counted when it says so or when its entry names it as the last one counted. An
// entry goes on to the next ballot only after the last one says so itself.
func (s *Server) CastBallot(ctx context.Context, request *blogv1.CastBallotRequest) (*blogv1.CastBallotResponse, error) {
	if _, err := s.people.Require(ctx, request.GetVoterId()); err != nil {
		return nil, err
	}
	found, err := s.blogs.Get(ctx, request.GetBlogId())
	if err != nil {
		return nil, err
	}
	if found.Vote == nil {
		return nil, fault.NotFound("VOTE_NOT_FOUND", "entry %d holds no vote", found.ID)
	}
	if int(request.GetChoice()) > len(found.Vote.Choices) {
		return nil, fault.NotFound("CHOICE_NOT_FOUND", "the vote of entry %d has %d choices", found.ID, len(found.Vote.Choices))
	}
	cast, err := s.ballotOf(ctx, request)
	if err != nil {
		return nil, err
	}
	if cast.Choice != request.GetChoice() {
		return nil, fault.New(codes.AlreadyExists, "ALREADY_VOTED", "user %d voted for choice %d already", cast.VoterID, cast.Choice)
	}
	if !cast.IsCounted {
		if found, err = s.count(ctx, cast); err != nil {
			return nil, err
		}
	}
	return &blogv1.CastBallotResponse{Vote: voteProto(found.Vote)}, nil
}

// ballotOf stores the ballot, or returns the one that the voter has.
func (s *Server) ballotOf(ctx context.Context, request *blogv1.CastBallotRequest) (ballot, error) {
	for {
		cast := ballot{ID: s.draw(), BlogID: request.GetBlogId(), VoterID: request.GetVoterId(), Choice: request.GetChoice()}
		err := s.ballots.Insert(ctx, cast)
		var duplicate *docstore.DuplicateError
		switch {
		case errors.As(err, &duplicate) && duplicate.Index == voterIndex:
			return s.ballots.Find(ctx, voterIndex, cast.BlogID, cast.VoterID)
		case errors.As(err, &duplicate):
			continue
		default:
			return cast, err
		}
	}
}

// count adds a ballot to its entry's numbers and returns the entry.
func (s *Server) count(ctx context.Context, cast ballot) (blog, error) {
	counted, err := s.blogs.Update(ctx, cast.BlogID, func(b *blog) error {
		// The ballot is read after the entry: had somebody counted it since, the
		// entry would have changed and this write would fail.
		current, err := s.ballots.Get(ctx, cast.ID)
		if err != nil {
			return fmt.Errorf("count ballot %d: %w", cast.ID, err)
		}
		if current.IsCounted || b.Vote.LastBallot == cast.ID {
			return errCounted
		}
		if err := s.settle(ctx, b.Vote.LastBallot); err != nil {
			return err
		}
		b.Vote.Choices[cast.Choice-1].Votes++
		b.Vote.LastBallot = cast.ID
		return nil
	})
	if errors.Is(err, errCounted) {
		counted, err = s.blogs.Get(ctx, cast.BlogID)
	}
	if err != nil {
		return blog{}, err
	}
	return counted, s.settle(ctx, cast.ID)
}

// settle lets a counted ballot say so.
func (s *Server) settle(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	_, err := s.ballots.Update(ctx, id, func(b *ballot) error {
		if b.IsCounted {
			return errCounted
		}
		b.IsCounted = true
		return nil
	})
	if errors.Is(err, docstore.ErrNotFound) || errors.Is(err, errCounted) {
		return nil
	}
	return err
}
