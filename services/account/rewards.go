package account

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// rewardDayGrace is how long a day's record is kept after the day: the next day, and longer
// than any call and than the difference between clocks.
const rewardDayGrace = 25 * time.Hour

// GrantReward gives a user a reward, once per source. Beyond the limit of the day the reward
// has the amount 0.
func (s *server) GrantReward(ctx context.Context, request *accountv1.GrantRewardRequest) (*accountv1.GrantRewardResponse, error) {
	given := reward{ID: rewardID(request.GetUserId(), request.GetSource()), Amount: request.GetAmount()}
	var missing error
	err := s.users.Together(func() error {
		_, missing = s.users.Get(ctx, request.GetUserId())
		return noUser(missing, request.GetUserId())
	}, func() error { return s.give(ctx, &given, request) })
	if errors.Is(missing, docstore.ErrNotFound) {
		err = cmp.Or(s.takeBack(ctx, request.GetUserId(), given.ID), err)
	}
	if err != nil {
		return nil, err
	}
	return &accountv1.GrantRewardResponse{Amount: given.Amount}, nil
}

// takeBack deletes a reward of a user who is not there, also if the caller is gone.
func (s *server) takeBack(ctx context.Context, userID int64, rewardID string) error {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), s.tidyTimeout)
	defer end()
	if _, err := s.users.Get(ctx, userID, docstore.Linearizable); !errors.Is(err, docstore.ErrNotFound) {
		return err // the read that missed the user was an old one
	}
	if err := s.rewards.Delete(ctx, rewardID); !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}

// give stores a reward, or reads the one that its source has given before.
func (s *server) give(ctx context.Context, given *reward, request *accountv1.GrantRewardRequest) error {
	if s.daily.limit > 0 && given.Amount != 0 {
		// A reward that exists takes nothing from today, because it may be of an earlier day.
		hasRoom := true
		_, err := s.rewards.Get(ctx, given.ID, docstore.Durable)
		if errors.Is(err, docstore.ErrNotFound) {
			hasRoom, err = s.daily.admit(ctx, request.GetUserId(), request.GetSource())
		}
		if err != nil {
			return err
		}
		if !hasRoom {
			given.Amount = 0
		}
	}
	err := s.rewards.Insert(ctx, *given)
	if _, isDuplicate := errors.AsType[*docstore.DuplicateError](err); isDuplicate {
		*given, err = s.rewards.Get(ctx, given.ID, docstore.Linearizable)
	}
	return err
}

// dailyRewards limits the rewards of a user in a day of UTC, over all processes that share
// the store. It may be used concurrently.
type dailyRewards struct {
	days  *docstore.Collection[string, rewardDay]
	now   func() time.Time
	limit int
}

var (
	errDayIsFull  = errors.New("account: the user has all rewards of the day")
	errIsAdmitted = errors.New("account: the source is already in the day's record")
)

// admit records a source in the user's day and reports whether it is within the limit. The
// same source may be admitted again, until the end of the next day, so a call that failed after
// that may be repeated.
func (d *dailyRewards) admit(ctx context.Context, userID int64, source string) (bool, error) {
	now := d.now().UTC()
	id := rewardDayID(userID, now)
	end := now.Truncate(24 * time.Hour).Add(24*time.Hour + rewardDayGrace)
	err := upsert(ctx, d.days, id, rewardDay{ID: id, ExpireMillis: end.UnixMilli()}, func(day *rewardDay) error {
		if slices.Contains(day.Sources, source) {
			return errIsAdmitted
		}
		if len(day.Sources) >= d.limit {
			return errDayIsFull
		}
		day.Sources = append(day.Sources, source)
		return nil
	})
	switch {
	case errors.Is(err, errDayIsFull):
		before, err := d.days.Get(ctx, rewardDayID(userID, now.AddDate(0, 0, -1)), docstore.Linearizable)
		if errors.Is(err, docstore.ErrNotFound) {
			return false, nil
		}
		return slices.Contains(before.Sources, source), err
	case errors.Is(err, errIsAdmitted):
		return true, nil
	}
	return err == nil, err
}

// ListRewards returns a page of a user's rewards.
func (s *server) ListRewards(ctx context.Context, request *accountv1.ListRewardsRequest) (*accountv1.ListRewardsResponse, error) {
	if _, err := s.users.Get(ctx, request.GetUserId()); err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	page, err := s.rewards.Page(ctx, docstore.Query{
		Where: rewardsOf(request.GetUserId()), Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), 100, service.MaxPage),
	})
	if err != nil {
		return nil, err
	}
	reply := &accountv1.ListRewardsResponse{Rewards: make([]*accountv1.Reward, len(page.Documents)), NextPageToken: page.Next}
	for i, each := range page.Documents {
		_, source, _ := strings.Cut(each.ID, "/")
		reply.Rewards[i] = &accountv1.Reward{Source: source, Amount: each.Amount}
	}
	return reply, nil
}

func rewardID(userID int64, source string) string {
	return strconv.FormatInt(userID, 10) + "/" + source
}

// rewardsOf selects the rewards of a user. No text between the bounds begins otherwise, and "0" follows "/".
func rewardsOf(userID int64) docstore.Where {
	user := strconv.FormatInt(userID, 10)
	return docstore.All(docstore.IDIndex).Within(docstore.Span{From: docstore.ValueOf(user + "/"), To: docstore.ValueOf(user + "0")}).Everywhere()
}

func rewardDayID(userID int64, day time.Time) string {
	return strconv.FormatInt(userID, 10) + "/" + day.Format(time.DateOnly)
}
