package account

import (
	"context"
	"errors"
	"strconv"

	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// rewardsBatch is how many rewards are read at a time.
const rewardsBatch = 1000

// GrantReward gives a user a reward, once per source.
func (s *Server) GrantReward(ctx context.Context, request *accountv1.GrantRewardRequest) (*accountv1.GrantRewardResponse, error) {
	if _, err := s.users.Get(ctx, request.GetUserId()); err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	given := reward{
		ID: rewardID(request.GetUserId(), request.GetSource()), UserID: request.GetUserId(), Amount: request.GetAmount(),
	}
	err := s.rewards.Insert(ctx, given)
	var before *docstore.DuplicateError
	if errors.As(err, &before) {
		given, err = s.rewards.GetLinearizable(ctx, given.ID)
	}
	if err != nil {
		return nil, err
	}
	return &accountv1.GrantRewardResponse{Amount: given.Amount}, nil
}

// GetRewardTotal adds up a user's rewards. The sum is not stored, so it always matches
// the rewards.
func (s *Server) GetRewardTotal(ctx context.Context, request *accountv1.GetRewardTotalRequest) (*accountv1.GetRewardTotalResponse, error) {
	if _, err := s.users.Get(ctx, request.GetUserId()); err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	reply := &accountv1.GetRewardTotalResponse{}
	all := docstore.Query{Where: byUser().Is(request.GetUserId()), Limit: rewardsBatch}
	for batch, err := range s.rewards.Batches(ctx, all) {
		if err != nil {
			return nil, err
		}
		for _, each := range batch {
			reply.Total += each.Amount
		}
		reply.RewardCount += int64(len(batch))
	}
	return reply, nil
}

func rewardID(userID int64, source string) string {
	return strconv.FormatInt(userID, 10) + "/" + source
}
