package rpc_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	created   = typev1.MoveOutcome_MOVE_OUTCOME_CREATED
	unchanged = typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED
	updated   = typev1.MoveOutcome_MOVE_OUTCOME_UPDATED
	different = typev1.MoveOutcome_MOVE_OUTCOME_DIFFERENT
	refused   = typev1.MoveOutcome_MOVE_OUTCOME_REFUSED
)

var updating = &typev1.MoveOptions{Update: true}

// longAgo is a time of the old service.
func longAgo(days int) *timestamppb.Timestamp {
	return timestamppb.New(time.Date(2009, 3, 1, 8, 30, 0, 0, time.UTC).AddDate(0, 0, days))
}

func movedComments(first, n int, author int64) (all []*typev1.MovedComment) {
	for i := range n {
		c := &typev1.MovedComment{
			OldId: fmt.Sprint(first + i), Author: &typev1.MovedComment_AuthorId{AuthorId: author},
			CreateTime: longAgo(i), Text: fmt.Sprint("text ", i),
		}
		if i%2 == 0 {
			c.Author = &typev1.MovedComment_Guest{Guest: &typev1.Guest{Name: "路人", IconUrl: "guest.png"}}
		}
		if i%3 == 0 {
			c.Reply = &typev1.MovedReply{CreateTime: longAgo(i + 1), Text: fmt.Sprint("reply ", i)}
		}
		all = append(all, c)
	}
	return all
}

func movedAlbum(oldID string, owner int64) *albumv1.MovedAlbum {
	return &albumv1.MovedAlbum{
		OldId: oldID, OwnerId: owner, Title: "舊相簿 " + oldID, Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD,
		Location: taipei, CreateTime: longAgo(0), UpdateTime: longAgo(5),
	}
}

// fullAlbum returns an album with photos, comments and recommendations, whose old identifiers begin at
// first.
func fullAlbum(oldID string, owner int64, first int, recommenders ...int64) *albumv1.MovedAlbum {
	moved := movedAlbum(oldID, owner)
	for i := range 3 {
		moved.Photos = append(moved.Photos, &albumv1.MovedPhoto{
			OldId: fmt.Sprint(first + i), ThumbnailUrl: fmt.Sprintf("old/%d.jpg", i), Description: fmt.Sprint("photo ", i),
		})
	}
	moved.Comments = movedComments(first, 4, owner)
	moved.RecommenderIds, moved.UnnamedScore = recommenders, 7
	return moved
}

func movedBlog(oldID string, author int64) *blogv1.MovedBlog {
	return &blogv1.MovedBlog{
		OldId: oldID, AuthorId: author, Type: blogv1.BlogType_BLOG_TYPE_MOOD, Location: taipei, Title: "舊標題", Content: "一\n二",
		PostDate: &typev1.Date{Year: 2009, Month: 3, Day: 1}, Weather: blogv1.Weather_WEATHER_RAINBOW,
		CreateTime: longAgo(0),
	}
}

func fullBlog(oldID string, author int64, first int, voters ...int64) *blogv1.MovedBlog {
	moved := movedBlog(oldID, author)
	moved.Vote = &blogv1.MovedVote{Description: "哪裡?", Choices: []*blogv1.MovedChoice{
		{Description: "山", UnnamedVotes: 10}, {Description: "海"}, {Description: "城", UnnamedVotes: 1},
	}}
	for i, voter := range voters {
		moved.Ballots = append(moved.Ballots, &blogv1.MovedBallot{VoterId: voter, Choice: int32(i%3 + 1)})
	}
	moved.Comments = movedComments(first, 3, author)
	moved.RecommenderIds, moved.Reward = voters, 25
	return moved
}

func movedPoi(oldID string, owner int64) *poiv1.MovedPoi {
	return &poiv1.MovedPoi{
		OldId: oldID, OwnerId: owner, Name: "舊地標 " + oldID, Category: poiv1.PoiCategory_POI_CATEGORY_TENDER,
		Location: taipei, CreateTime: longAgo(0),
	}
}

func fullPoi(oldID string, owner int64, first int) *poiv1.MovedPoi {
	moved := movedPoi(oldID, owner)
	moved.Photos = []*poiv1.MovedPhoto{{OldId: fmt.Sprint(first), PhotoUrl: "old.jpg"}, {OldId: fmt.Sprint(first + 1), PhotoUrl: "older.jpg"}}
	moved.Comments = movedComments(first, 2, owner)
	moved.RecommenderIds = []int64{owner}
	return moved
}

func (w *waybook) moveAlbums(options *typev1.MoveOptions, albums ...*albumv1.MovedAlbum) []*typev1.MoveResult {
	w.t.Helper()
	return must(w.Album.MoveInAlbums(w.t.Context(), &albumv1.MoveInAlbumsRequest{Options: options, Albums: albums}))(w.t).GetResults()
}

func (w *waybook) moveBlogs(options *typev1.MoveOptions, blogs ...*blogv1.MovedBlog) []*typev1.MoveResult {
	w.t.Helper()
	return must(w.Blog.MoveInBlogs(w.t.Context(), &blogv1.MoveInBlogsRequest{Options: options, Blogs: blogs}))(w.t).GetResults()
}

func (w *waybook) movePois(options *typev1.MoveOptions, pois ...*poiv1.MovedPoi) []*typev1.MoveResult {
	w.t.Helper()
	return must(w.Poi.MoveInPois(w.t.Context(), &poiv1.MoveInPoisRequest{Options: options, Pois: pois}))(w.t).GetResults()
}

// expectOutcomes checks outcomes, and that only refused records have problems.
func expectOutcomes(t testing.TB, got []*typev1.MoveResult, want ...typev1.MoveOutcome) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d: %v", len(got), len(want), got)
	}
	for i, result := range got {
		if result.GetOutcome() != want[i] || (len(result.GetProblems()) > 0) != (want[i] == refused) || (result.GetId() == 0) != (want[i] == refused) {
			t.Errorf("record %d: %v, want %v", i, result, want[i])
		}
	}
}

// expectProblem checks that a result has one problem.
func expectProblem(t *testing.T, got *typev1.MoveResult, field, reason string) {
	t.Helper()
	if len(got.GetProblems()) != 1 || got.GetProblems()[0].GetField() != field || got.GetProblems()[0].GetReason() != reason {
		t.Errorf("got %v, want one problem %s in %q", got, reason, field)
	}
}
