package rpc_test

import (
	"sync"
	"testing"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// parallel calls run count times, with 32 calls in flight.
func parallel(t *testing.T, count int, run func(int) error) {
	t.Helper()
	next := make(chan int)
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for i := range next {
				if err := run(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	group.Wait()
}

// votes returns the votes for the choices of an entry.
func (w *waybook) votes(blog int64) (numbers [3]int64) {
	w.t.Helper()
	for i, c := range w.getBlog(blog).GetBlog().GetVote().GetChoices() {
		numbers[i] = c.GetVotes()
	}
	return numbers
}

func TestConcurrentBallotsAreCountedExactly(t *testing.T) {
	t.Parallel()
	const voters = 32
	w := start(t)
	blog := w.newBlog(w.newUser("a"))
	users := make([]int64, voters)
	for i := range users {
		users[i] = w.newUser("v")
	}
	parallel(t, voters, func(i int) error {
		return failed(w.blog.CastBallot(t.Context(), &blogv1.CastBallotRequest{VoterId: users[i], BlogId: blog, Choice: int32(i%2) + 1}))
	})
	if got := w.votes(blog); got != [3]int64{voters / 2, voters / 2, 0} {
		t.Errorf("votes %v", got)
	}
}

func TestARepeatedBallotIsCountedOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	voter := w.newUser("v")
	blog := w.newBlog(voter)
	request := &blogv1.CastBallotRequest{VoterId: voter, BlogId: blog, Choice: 3}
	parallel(t, 32, func(int) error { return failed(w.blog.CastBallot(t.Context(), request)) })
	if choices := must(w.blog.CastBallot(t.Context(), request))(t).GetVote().GetChoices(); choices[2].GetVotes() != 1 {
		t.Errorf("the reply has %v", choices)
	}
	if got := w.votes(blog); got != [3]int64{0, 0, 1} {
		t.Errorf("votes %v", got)
	}
}

func TestOfTwoConcurrentChoicesOfAVoterOneCounts(t *testing.T) {
	t.Parallel()
	w := start(t)
	voter := w.newUser("v")
	blog := w.newBlog(voter)
	var refused [2]error
	var group sync.WaitGroup
	for i := range refused {
		group.Go(func() {
			_, refused[i] = w.blog.CastBallot(t.Context(), &blogv1.CastBallotRequest{VoterId: voter, BlogId: blog, Choice: int32(i) + 1})
		})
	}
	group.Wait()
	if (refused[0] == nil) == (refused[1] == nil) {
		t.Errorf("got %v", refused)
	}
	if got := w.votes(blog); got[0]+got[1] != 1 {
		t.Errorf("votes %v", got)
	}
}
