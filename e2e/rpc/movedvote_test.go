package rpc_test

import (
	"slices"
	"testing"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// A vote that has fewer choices stays, because ballots name choices by their position; the rest of the entry is
// taken over.
func TestAChangedVoteIsTakenOverByAnUpdate(t *testing.T) {
	onEachEngine(t, func(t *testing.T, p *parts) {
		author, voter, other := p.newUser("author"), p.newUser("voter"), p.newUser("other")
		votes := func() (counts []int64) {
			shown := must(p.blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: 1}))(t)
			for _, each := range shown.GetBlog().GetVote().GetChoices() {
				counts = append(counts, each.GetVotes())
			}
			return counts
		}
		full := fullBlog("1", author, 100, voter, other)
		grown := fullBlog("1", author, 100, voter, other)
		grown.Vote.Choices = append(grown.Vote.Choices, &blogv1.MovedChoice{Description: "河", UnnamedVotes: 2})
		grown.Ballots[0].Choice = 4
		shrunk := fullBlog("1", author, 100, voter)
		shrunk.Title, shrunk.Vote.Choices = "新標題", shrunk.Vote.Choices[:2]
		for _, step := range []struct {
			record  *blogv1.MovedBlog
			outcome typev1.MoveOutcome
			votes   []int64
		}{
			{movedBlog("1", author), created, nil}, {full, updated, []int64{11, 1, 1}}, {full, unchanged, []int64{11, 1, 1}},
			{grown, updated, []int64{10, 1, 1, 3}}, {grown, unchanged, []int64{10, 1, 1, 3}}, {shrunk, updated, []int64{10, 1, 1, 3}},
		} {
			results := must(p.blog.MoveInBlogs(t.Context(), &blogv1.MoveInBlogsRequest{Options: updating, Blogs: []*blogv1.MovedBlog{step.record}}))(t).GetResults()
			if step.record == shrunk {
				expectProblem(t, results[0], "vote", "VOTE_CHANGED")
			} else if len(results[0].GetProblems()) > 0 {
				t.Error(results[0])
			}
			if results[0].GetOutcome() != step.outcome {
				t.Errorf("the outcome is %v, want %v", results[0], step.outcome)
			}
			if got := votes(); !slices.Equal(got, step.votes) {
				t.Errorf("votes are %v, want %v", got, step.votes)
			}
		}
		if shown := must(p.blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: 1}))(t); shown.GetBlog().GetTitle() != "新標題" {
			t.Error(shown)
		}
		p.check()
	})
}
