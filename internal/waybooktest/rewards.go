package waybooktest

import (
	"context"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Rewards are the sum and the number of the rewards of a user.
type Rewards struct{ Total, Count int64 }

// RewardsOf adds up the rewards of a user.
func RewardsOf(ctx context.Context, account accountv1.AccountServiceClient, user int64) (Rewards, error) {
	var all Rewards
	request := &accountv1.ListRewardsRequest{UserId: user, PageSize: 1000}
	for {
		page, err := account.ListRewards(ctx, request)
		if err != nil {
			return Rewards{}, err
		}
		for _, each := range page.GetRewards() {
			all.Total += each.GetAmount()
			all.Count++
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return all, nil
		}
	}
}
