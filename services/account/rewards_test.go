package account

import (
	"errors"
	"fmt"
	"testing"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// reward stores rewards for a user, of the amounts 1 to count.
func (s *Server) reward(t testing.TB, userID int64, count int) {
	t.Helper()
	rewards := make([]reward, count)
	for i := range rewards {
		rewards[i] = reward{ID: rewardID(userID, fmt.Sprint("blog/", i+1)), UserID: userID, Amount: int64(i + 1)}
	}
	errs, err := s.rewards.InsertMany(t.Context(), rewards)
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
}

func TestATotalIncludesTheRewardsOfEveryPageAndOfNoOtherUser(t *testing.T) {
	s := newBench(t).newServer(t)
	first, second := s.newUser(t, "", ""), s.newUser(t, "", "")
	const many = 2*rewardsBatch + 1
	s.reward(t, first, many)
	s.reward(t, second, 3)
	for id, count := range map[int64]int64{first: many, second: 3} {
		reply, err := s.GetRewardTotal(t.Context(), &accountv1.GetRewardTotalRequest{UserId: id})
		if err != nil || reply.GetTotal() != count*(count+1)/2 || reply.GetRewardCount() != count {
			t.Errorf("got %v, %v, want %d rewards", reply, err, count)
		}
	}
}

func BenchmarkGetRewardTotal(b *testing.B) {
	for _, count := range []int{100, 10_000} {
		s := newBench(b).newServer(b)
		id := s.newUser(b, "", "")
		s.reward(b, id, count)
		b.Run(fmt.Sprint("of ", count), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.GetRewardTotal(b.Context(), &accountv1.GetRewardTotalRequest{UserId: id}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPasswordHash(b *testing.B) {
	p := newPasswords()
	for b.Loop() {
		if _, err := p.hash(b.Context(), "correct horse"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
}
