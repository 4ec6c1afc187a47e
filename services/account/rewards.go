package account

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// GrantRewards adds rewards to the ledger: a row for each source that a user is rewarded for. Rows
// never change, and a repeat finds it there.
func (s *server) GrantRewards(ctx context.Context,
	request *accountv1.GrantRewardsRequest) (*accountv1.GrantRewardsResponse, error) {
	isThere, err := s.areThere(ctx, request.GetGrants())
	if err != nil {
		return nil, err
	}
	var rows []reward
	for _, each := range request.GetGrants() {
		if isThere[each.GetUserId()] {
			rows = append(rows, reward{ID: rewardID(each.GetUserId(), each.GetSource()), Amount: each.GetAmount()})
		}
	}
	// A majority has the rows that are taken, too: the store answers no write before.
	if _, err := docstore.Taken(s.rewards.Insert(ctx, rows...)); err != nil {
		return nil, err
	}
	return &accountv1.GrantRewardsResponse{}, nil
}

// areThere returns which users of grants exist. A user who is deleted after that is swept together
// with the reward.
func (s *server) areThere(ctx context.Context, grants []*accountv1.Grant) (map[int64]bool, error) {
	ids := make([]int64, len(grants))
	for i, each := range grants {
		ids[i] = each.GetUserId()
	}
	found, err := s.users.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	isThere := make(map[int64]bool, len(found))
	for _, each := range found {
		isThere[each.ID] = true
	}
	for _, id := range ids {
		if _, isKnown := isThere[id]; isKnown {
			continue
		}
		// The read may have been an old one, and no other call grants the reward again.
		_, err := s.users.Get(ctx, id, docstore.Linearizable)
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return nil, err
		}
		isThere[id] = err == nil
	}
	return isThere, nil
}

// ListRewards returns a page of a user's rewards.
func (s *server) ListRewards(ctx context.Context,
	request *accountv1.ListRewardsRequest) (*accountv1.ListRewardsResponse, error) {
	if _, err := s.users.Get(ctx, request.GetUserId()); err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	page, err := s.rewards.Page(ctx, docstore.Query{
		Where: rewardsOf(request.GetUserId()), Token: request.GetPageToken(),
		Limit: service.PageSize(request.GetPageSize(), 100, service.MaxPage),
	})
	if err != nil {
		return nil, err
	}
	reply := &accountv1.ListRewardsResponse{Rewards: make([]*accountv1.Reward, len(page.Documents)),
		NextPageToken: page.Next}
	for i, each := range page.Documents {
		_, source, _ := strings.Cut(each.ID, "/")
		reply.Rewards[i] = &accountv1.Reward{Source: source, Amount: each.Amount}
	}
	return reply, nil
}

func rewardID(userID int64, source string) string {
	return strconv.FormatInt(userID, 10) + "/" + source
}

// rewardsOf selects the rewards of a user. No text between the bounds begins otherwise, and "0"
// follows "/".
func rewardsOf(userID int64) docstore.Where {
	user := strconv.FormatInt(userID, 10)
	return docstore.All(docstore.IDIndex).Within(docstore.Span{From: docstore.ValueOf(user + "/"),
		To: docstore.ValueOf(user + "0")}).Everywhere()
}
