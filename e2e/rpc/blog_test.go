package rpc_test

import (
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

func TestBlogFailsAsTheContractSays(t *testing.T) {
	w, ctx := start(t), t.Context()
	author, other := w.newUser("a"), w.newUser("b")
	id, elsewhere := w.newBlog(author), w.newBlog(author)
	plain := newBlogRequest(author)
	plain.Vote = nil
	voteless := must(w.blog.CreateBlog(ctx, plain))(t).GetBlog().GetBlogId()
	written := must(w.blog.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: other, BlogId: elsewhere, Text: "t"}))(t)
	comment := written.GetComment().GetCommentId()
	got(t, written, failed(w.blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: other, BlogId: elsewhere, Choice: 1})))

	update := func(actor, blog int64) func() error {
		return func() error {
			return failed(w.blog.UpdateBlog(ctx, &blogv1.UpdateBlogRequest{ActorId: actor, BlogId: blog, Title: proto.String("z")}))
		}
	}
	remove := func(actor, blog int64) func() error {
		return func() error {
			return failed(w.blog.DeleteBlog(ctx, &blogv1.DeleteBlogRequest{ActorId: actor, BlogId: blog}))
		}
	}
	cast := func(voter, blog int64, choice int32) func() error {
		return func() error {
			return failed(w.blog.CastBallot(ctx, &blogv1.CastBallotRequest{VoterId: voter, BlogId: blog, Choice: choice}))
		}
	}
	addComment := func(author, blog int64) func() error {
		return func() error {
			return failed(w.blog.AddComment(ctx, &blogv1.AddCommentRequest{AuthorId: author, BlogId: blog, Text: "t"}))
		}
	}
	reply := func(actor, blog, comment int64) func() error {
		return func() error {
			return failed(w.blog.ReplyToComment(ctx, &blogv1.ReplyToCommentRequest{ActorId: actor, BlogId: blog, CommentId: comment, Text: "t"}))
		}
	}
	removeComment := func(actor, blog, comment int64) func() error {
		return func() error {
			return failed(w.blog.RemoveComment(ctx, &blogv1.RemoveCommentRequest{ActorId: actor, BlogId: blog, CommentId: comment}))
		}
	}
	expectFailures(t, []failure{
		{"CreateBlog for an unknown user", func() error {
			return failed(w.blog.CreateBlog(ctx, newBlogRequest(1)))
		}, codes.NotFound, "USER_NOT_FOUND"},
		{"UpdateBlog of an unknown entry", update(author, 1), codes.NotFound, "BLOG_NOT_FOUND"},
		{"UpdateBlog by another user", update(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"DeleteBlog of an unknown entry", remove(author, 1), codes.NotFound, "BLOG_NOT_FOUND"},
		{"DeleteBlog by another user", remove(other, id), codes.PermissionDenied, "NOT_OWNER"},
		{"GetBlog of an unknown entry", func() error {
			return failed(w.blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: 1}))
		}, codes.NotFound, "BLOG_NOT_FOUND"},
		{"ListBlogs of an unknown user", func() error {
			return failed(w.blog.ListBlogs(ctx, &blogv1.ListBlogsRequest{AuthorId: 1}))
		}, codes.NotFound, "USER_NOT_FOUND"},
		{"CastBallot on an unknown entry", cast(other, 1, 1), codes.NotFound, "BLOG_NOT_FOUND"},
		{"CastBallot without a vote", cast(other, voteless, 1), codes.NotFound, "VOTE_NOT_FOUND"},
		{"CastBallot for an unknown choice", cast(other, id, 4), codes.NotFound, "CHOICE_NOT_FOUND"},
		{"CastBallot by an unknown user", cast(1, id, 1), codes.NotFound, "USER_NOT_FOUND"},
		{"CastBallot for another choice", cast(other, elsewhere, 2), codes.AlreadyExists, "ALREADY_VOTED"},
		{"ListBallots of an unknown entry", func() error {
			return failed(w.blog.ListBallots(ctx, &blogv1.ListBallotsRequest{BlogId: 1}))
		}, codes.NotFound, "BLOG_NOT_FOUND"},
		{"ListBallots without a vote", func() error {
			return failed(w.blog.ListBallots(ctx, &blogv1.ListBallotsRequest{BlogId: voteless}))
		}, codes.NotFound, "VOTE_NOT_FOUND"},
		{"AddComment to an unknown entry", addComment(author, 1), codes.NotFound, "BLOG_NOT_FOUND"},
		{"AddComment by an unknown user", addComment(1, id), codes.NotFound, "USER_NOT_FOUND"},
		{"ReplyToComment in an unknown entry", reply(author, 1, comment), codes.NotFound, "BLOG_NOT_FOUND"},
		{"ReplyToComment by its author", reply(other, elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
		{"ReplyToComment to an unknown comment", reply(author, id, 1), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"ReplyToComment in another entry", reply(author, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"RemoveComment from an unknown entry", removeComment(author, 1, comment), codes.NotFound, "BLOG_NOT_FOUND"},
		{"RemoveComment by a third user", removeComment(w.newUser("c"), elsewhere, comment), codes.PermissionDenied, "NOT_OWNER"},
		{"RemoveComment of an unknown comment", removeComment(author, id, 1), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"RemoveComment of another entry's", removeComment(author, id, comment), codes.NotFound, "COMMENT_NOT_FOUND"},
		{"ListComments of an unknown entry", func() error {
			return failed(w.blog.ListComments(ctx, &blogv1.ListCommentsRequest{BlogId: 1}))
		}, codes.NotFound, "BLOG_NOT_FOUND"},
	})
}
