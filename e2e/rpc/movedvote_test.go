package rpc_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
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
			results := must(p.Blog.MoveInBlogs(t.Context(), &blogv1.MoveInBlogsRequest{Options: updating, Blogs: []*blogv1.MovedBlog{step.record}}))(t).GetResults()
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
		if shown := must(p.Blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: 1}))(t); shown.GetBlog().GetTitle() != "新標題" {
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
		results := must(p.Account.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{Options: updating, Users: []*accountv1.MovedUser{ann}}))(t).GetResults()
		if results[0].GetRemoved().GetSessions() != 1 {
			t.Errorf("without the session: %v", results)
		}
		p.check()
	})
}

func TestAnUpdateInSeveralRecordsRemovesWhatNoneOfThemHas(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, p *parts) {
		a, b := p.newUser("a"), p.newUser("b")
		first, gone, last := fullAlbum("1", a, 100, a), fullAlbum("1", a, 200, b), fullAlbum("1", a, 300)
		first.Photos[0].OldId, first.Comments[0].OldId, gone.Photos[0].OldId = "a photo", "a comment", "another photo"
		first.Continues, gone.Continues, gone.Part, last.Part = true, true, 1, 2
		before := &typev1.MovedBefore{RecommenderIds: []int64{a}}
		for _, each := range first.GetPhotos() {
			before.PhotoOldIds = append(before.PhotoOldIds, each.GetOldId())
		}
		for _, each := range first.GetComments() {
			before.CommentOldIds = append(before.CommentOldIds, each.GetOldId())
		}
		shown := func() (photos, comments int, score int64) {
			reply := must(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 1}))(t)
			return len(reply.GetPhotos()), len(reply.GetComments()), reply.GetAlbum().GetScore()
		}
		expectOutcomes(t, p.moveAlbums(nil, first, gone, last), created, created, created)
		less := proto.Clone(last).(*albumv1.MovedAlbum)
		less.Part = 1
		expectOutcomes(t, p.moveAlbums(updating, first, less), unchanged, unchanged)
		less.Before = before
		for _, options := range []*typev1.MoveOptions{{Update: true, ValidateOnly: true}, updating} {
			results := p.moveAlbums(options, first, less)
			expectOutcomes(t, results, unchanged, updated)
			if want := (&typev1.MoveRemoved{Photos: 3, Comments: 4, Recommendations: 1}); !proto.Equal(results[1].GetRemoved(), want) {
				t.Errorf("%v: removed are %v, want %v", options, results[1].GetRemoved(), want)
			}
		}
		expectOutcomes(t, p.moveAlbums(updating, first, less), unchanged, unchanged)
		if photos, comments, score := shown(); photos != 6 || comments != 8 || score != 8 {
			t.Errorf("the album has %d photos, %d comments and the score %d", photos, comments, score)
		}
		// What an interrupted move has left is removed, too.
		for _, each := range []*albumv1.MovedAlbum{first, gone, less} {
			each.OldId = "2"
			for _, photo := range each.GetPhotos() {
				photo.OldId += "0"
			}
			for _, comment := range each.GetComments() {
				comment.OldId += "0"
			}
		}
		for n := range before.GetPhotoOldIds() {
			before.PhotoOldIds[n] += "0"
		}
		for n := range before.GetCommentOldIds() {
			before.CommentOldIds[n] += "0"
		}
		expectOutcomes(t, p.moveAlbums(nil, first, gone), created, created)
		expectOutcomes(t, p.moveAlbums(nil, first, less), created, created)
		if reply := must(p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 2}))(t); len(reply.GetPhotos()) != 6 || len(reply.GetComments()) != 8 {
			t.Errorf("the other album is %v", reply)
		}
		entry, end := fullBlog("1", a, 100, a, b), fullBlog("1", a, 200)
		entry.Continues, end.Part = true, 1
		expectOutcomes(t, p.moveBlogs(nil, entry, end), created, created)
		entry.Ballots, entry.RecommenderIds = entry.GetBallots()[:1], entry.GetRecommenderIds()[:1]
		end.Before = &typev1.MovedBefore{RecommenderIds: []int64{a}, VoterIds: []int64{a}, CommentOldIds: []string{"100", "101", "102"}}
		if got, want := p.moveBlogs(updating, entry, end)[1].GetRemoved(), (&typev1.MoveRemoved{Ballots: 1, Recommendations: 1}); !proto.Equal(got, want) {
			t.Errorf("of the entry, removed are %v, want %v", got, want)
		}
		p.check()
	})
}
