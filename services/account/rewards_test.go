package account

import (
	"fmt"
	"testing"

	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// reward stores rewards for a user, of the amounts 1 to count.
func (s *server) reward(t testing.TB, userID int64, count int) {
	t.Helper()
	rewards := make([]reward, count)
	for i := range rewards {
		rewards[i] = reward{ID: rewardID(userID, fmt.Sprint("blog/", i+1)), Amount: int64(i + 1)}
	}
	if err := s.rewards.Insert(t.Context(), rewards...); err != nil {
		t.Fatal(err)
	}
}

// grant grants a user a reward of 10 for each source.
func (s *server) grant(t testing.TB, user int64, sources ...string) error {
	request := &accountv1.GrantRewardsRequest{}
	for _, source := range sources {
		request.Grants = append(request.Grants, &accountv1.Grant{UserId: user, Source: source, Amount: 10})
	}
	_, err := s.GrantRewards(t.Context(), request)
	return err
}

// expectRewards checks the sum and the number of a user's rewards.
func (s *server) expectRewards(t testing.TB, user, wantTotal, wantCount int64) {
	t.Helper()
	request := &accountv1.ListRewardsRequest{UserId: user, PageSize: service.MaxPage}
	var total, count int64
	for isOver := false; !isOver; isOver = request.PageToken == "" {
		page, err := s.ListRewards(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range page.GetRewards() {
			total += each.GetAmount()
			count++
		}
		request.PageToken = page.GetNextPageToken()
	}
	if total != wantTotal || count != wantCount {
		t.Errorf("a total of %d in %d rewards, want %d in %d", total, count, wantTotal, wantCount)
	}
}

func TestRewardsAreListedByPagesAndThoseOfNoOtherUser(t *testing.T) {
	s := newBench(t).newServer(t)
	first, second := s.newUser(t, "", ""), s.newUser(t, "", "")
	const many = 2*service.MaxPage + 1
	s.reward(t, first, many)
	s.reward(t, second, 3)
	for _, neighbor := range []int64{first / 10, first * 10, first*10 + 9, first + 1} { // their ids begin alike
		s.reward(t, neighbor, 1)
	}
	s.expectRewards(t, first, many*(many+1)/2, many)
	s.expectRewards(t, second, 6, 3)
}

func TestAReadOfADeposedPrimaryLosesNoReward(t *testing.T) {
	b := newBench(t)
	cluster := storetest.NewReplica(t, storetest.ReplicaSettings{Now: b.clock})
	b.store = cluster
	late := b.newServer(t)
	cluster.Fail(storetest.Failover{StaleReads: 100})
	const user = 7
	s := (&bench{store: cluster.Process(), now: b.now}).newServer(t)
	s.wantResults(t, "INSERTED", &moveinv1.User{Id: user, Name: "x"})
	if err := late.grant(t, user, "blog/1"); err != nil {
		t.Fatal(err)
	}
	s.expectRewards(t, user, 10, 1)
}
