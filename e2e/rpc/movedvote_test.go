package rpc_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// A vote that has fewer choices stays, because ballots name choices by their position; the rest of the entry is
// taken over.
func TestAChangedVoteIsTakenOverByAnUpdate(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		author, voter, other := p.newUser("author"), p.newUser("voter"), p.newUser("other")
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
			if got := p.votes(1); !slices.Equal(got, step.votes) {
				t.Errorf("votes are %v, want %v", got, step.votes)
			}
		}
		if shown := must(p.blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: 1}))(t); shown.GetBlog().GetTitle() != "新標題" {
			t.Error(shown)
		}
		p.check()
	})
}

// An import refuses an update that removes too much, by these numbers.
func TestAnUpdateReportsWhatItRemoves(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		author, voter, other := p.newUser("author"), p.newUser("voter"), p.newUser("other")
		p.moveBlogs(nil, fullBlog("1", author, 100, voter, other))
		less := fullBlog("1", author, 100, voter)
		less.Comments = less.Comments[:1]
		want := &typev1.MoveRemoved{Comments: 2, Ballots: 1, Recommendations: 1}
		for _, options := range []*typev1.MoveOptions{{Update: true, ValidateOnly: true}, updating} {
			if got := p.moveBlogs(options, less)[0].GetRemoved(); !proto.Equal(got, want) {
				t.Errorf("%v: removed are %v, want %v", options, got, want)
			}
		}
		if again := p.moveBlogs(updating, less)[0]; again.GetRemoved() != nil || again.GetOutcome() != unchanged {
			t.Errorf("again: %v", again)
		}
		ann := movedAnn("8743b52063cd84097a65d1633f5c74f5")
		p.moveIn(nil, ann)
		ann.Sessions = &accountv1.MovedSessions{}
		results := must(p.account.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{Options: updating, Users: []*accountv1.MovedUser{ann}}))(t).GetResults()
		if results[0].GetRemoved().GetSessions() != 1 {
			t.Errorf("without the session: %v", results)
		}
		p.check()
	})
}
