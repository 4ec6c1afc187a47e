package blog

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/content/choices"
)

func TestPostsThatComeTogetherLeaveNoRewardDue(t *testing.T) {
	const posts = 3*clearingBatch + 1
	f := newFixture(t, tenEach)
	var group sync.WaitGroup
	for range posts {
		group.Go(func() {
			request := newRequest(author)
			request.RequestId = ""
			reply, err := f.CreateBlog(t.Context(), request)
			if err != nil {
				t.Error(err)
			} else if reply.GetBlog().GetReward() != 10 {
				t.Errorf("a post got the reward %d", reply.GetBlog().GetReward())
			}
		})
	}
	group.Wait()
	f.expect("after the posts", posts*10, 0)
}

func TestClearingsTakeEachEntryOnceAndHaveABound(t *testing.T) {
	c := clearings{background: &choices.Background{}}
	goOn := make(chan struct{})
	var batches [][]int64
	clear := func(_ context.Context, ids []int64) {
		<-goOn
		batches = append(batches, ids)
	}
	add := func(id int64) bool { return c.later(t.Context(), id, clear) }
	if !add(0) {
		t.Fatal("the first one is refused")
	}
	accepted := 0
	for id := int64(1); add(id/2 + 1); id++ { // nearly all of them twice
		if accepted++; accepted > maxClearing+clearingBatch {
			t.Fatal("the marks that wait have no bound")
		}
	}
	close(goOn)
	if err := c.background.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	cleared := map[int64]bool{}
	for _, batch := range batches {
		if len(batch) > clearingBatch || len(batch) != len(slices.Compact(slices.Sorted(slices.Values(batch)))) {
			t.Fatalf("a batch is %v", batch)
		}
		for _, id := range batch {
			cleared[id] = true
		}
	}
	if want := accepted/2 + 2; len(cleared) != want {
		t.Errorf("%d entries were cleared, want %d", len(cleared), want)
	}
	if !add(1) {
		t.Error("after the run, a mark is refused")
	}
	if err := c.background.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
