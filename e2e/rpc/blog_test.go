package rpc_test

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func (w *waybook) getBlog(id int64) *blogv1.GetBlogResponse {
	w.t.Helper()
	return must(w.blog.GetBlog(w.t.Context(), &blogv1.GetBlogRequest{BlogId: id}))(w.t)
}

func TestAnEntryGetsItsDefaultsAndReward(t *testing.T) {
	w := start(t)
	b := w.getBlog(w.newBlog(w.newUser("阿海"))).GetBlog()
	if b.GetZoomLevel() != 14 || b.GetMapType() != blogv1.MapType_MAP_TYPE_MAP || b.GetReward() != 10 || b.GetReplyBlogId() != 0 {
		t.Errorf("created %v", b)
	}
	if b.GetAuthor().GetName() != "阿海" || b.GetContent() != "一\r\n二" || len(b.GetVote().GetChoices()) != 3 || b.GetVote().GetDescription() != "哪裡?" {
		t.Errorf("created %v", b)
	}
}

func TestAnEntryIsChangedInPart(t *testing.T) {
	w := start(t)
	author := w.newUser("a")
	quoted, id := w.newBlog(author), w.newBlog(author)
	want := w.getBlog(id).GetBlog()
	kind, weather, mapType := blogv1.BlogType_BLOG_TYPE_TRAVEL, blogv1.Weather_WEATHER_SNOW, blogv1.MapType_MAP_TYPE_HYBRID
	place, day := &typev1.Location{Lat: -90}, &typev1.Date{Year: 2028, Month: 2, Day: 29}
	for _, change := range []struct {
		name    string
		request *blogv1.UpdateBlogRequest
		apply   func()
	}{
		{"nothing", &blogv1.UpdateBlogRequest{}, func() {}},
		{"type", &blogv1.UpdateBlogRequest{Type: &kind}, func() { want.Type = kind }},
		{"location", &blogv1.UpdateBlogRequest{Location: place}, func() { want.Location = place }},
		{"title", &blogv1.UpdateBlogRequest{Title: proto.String("新")}, func() { want.Title = "新" }},
		{"content", &blogv1.UpdateBlogRequest{Content: proto.String("\r\n")}, func() { want.Content = "\r\n" }},
		{"date", &blogv1.UpdateBlogRequest{PostDate: day}, func() { want.PostDate = day }},
		{"weather", &blogv1.UpdateBlogRequest{Weather: &weather}, func() { want.Weather = weather }},
		{"quote", &blogv1.UpdateBlogRequest{ReplyBlogId: &quoted}, func() { want.ReplyBlogId = quoted }},
		{"zoom", &blogv1.UpdateBlogRequest{ZoomLevel: proto.Int32(0)}, func() { want.ZoomLevel = 0 }},
		{"map", &blogv1.UpdateBlogRequest{MapType: &mapType}, func() { want.MapType = mapType }},
		{"no quote", &blogv1.UpdateBlogRequest{ReplyBlogId: proto.Int64(0)}, func() { want.ReplyBlogId = 0 }},
	} {
		change.request.ActorId, change.request.BlogId = author, id
		change.apply()
		now := must(w.blog.UpdateBlog(t.Context(), change.request))(t).GetBlog()
		want.UpdateTime = now.GetUpdateTime()
		if read := w.getBlog(id).GetBlog(); !proto.Equal(now, want) || !proto.Equal(read, want) {
			t.Errorf("after %s: %v, read %v, want %v", change.name, now, read, want)
		}
	}
}

func TestAnEntryCanQuoteOnlyAnExistingEntry(t *testing.T) {
	w := start(t)
	author := w.newUser("a")
	id := w.newBlog(author)
	request := newBlogRequest(author)
	request.ReplyBlogId = 1
	expectFault(t, failed(w.blog.CreateBlog(t.Context(), request)), codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND", "reply_blog_id")
	expectFault(t, failed(w.blog.UpdateBlog(t.Context(), &blogv1.UpdateBlogRequest{ActorId: author, BlogId: id, ReplyBlogId: proto.Int64(1)})),
		codes.InvalidArgument, "QUOTED_BLOG_NOT_FOUND", "reply_blog_id")
	request.ReplyBlogId = id
	quoting := must(w.blog.CreateBlog(t.Context(), request))(t).GetBlog()
	must(w.blog.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id}))(t)
	if b := w.getBlog(quoting.GetBlogId()).GetBlog(); b.GetReplyBlogId() != id {
		t.Errorf("deleting the quoted entry changed %v", b)
	}
}

func TestVotingFailsAsTheContractSays(t *testing.T) {
	w, ctx := start(t), t.Context()
	author, other := w.newUser("a"), w.newUser("b")
	id, elsewhere := w.newBlog(author), w.newBlog(author)
	plain := newBlogRequest(author)
	plain.Vote = nil
	voteless := must(w.blog.CreateBlog(ctx, plain))(t).GetBlog().GetBlogId()
	must(w.blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: other, BlogId: elsewhere, Choice: 1}))(t)
	cast := func(voter, blog int64, choice int32) func(context.Context) error {
		return calling(w.blog.CastBallot, &blogv1.CastBallotRequest{VoterId: voter, BlogId: blog, Choice: choice})
	}
	expectFailures(t, []failure{
		{"CastBallot on an unknown entry", cast(other, 1, 1), codes.NotFound, "BLOG_NOT_FOUND"},
		{"CastBallot without a vote", cast(other, voteless, 1), codes.NotFound, "VOTE_NOT_FOUND"},
		{"CastBallot for an unknown choice", cast(other, id, 4), codes.NotFound, "CHOICE_NOT_FOUND"},
		{"CastBallot by an unknown user", cast(1, id, 1), codes.NotFound, "USER_NOT_FOUND"},
		{"CastBallot for another choice", cast(other, elsewhere, 2), codes.AlreadyExists, "ALREADY_VOTED"},
		{"ListBallots of an unknown entry", calling(w.blog.ListBallots, &blogv1.ListBallotsRequest{BlogId: 1}), codes.NotFound, "BLOG_NOT_FOUND"},
		{"ListBallots without a vote", calling(w.blog.ListBallots, &blogv1.ListBallotsRequest{BlogId: voteless}), codes.NotFound, "VOTE_NOT_FOUND"},
	})
}
