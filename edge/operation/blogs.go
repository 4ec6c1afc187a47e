package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parameters of blogs (rules 7.5 to 7.18).
var (
	paramBlogID      = form.Parameter{Name: "blogID", Hint: idHint, Syntax: form.IntegerSyntax}
	paramBlogType    = form.Parameter{Name: "type", Hint: "0_0 to 0_8"}
	paramBlogTitle   = form.Parameter{Name: "blogTitle", Hint: titleHint}
	paramBlogContent = form.Parameter{Name: "blogContent", Hint: "1 to 100000 characters"}
	paramYear        = form.Parameter{Name: "year", Hint: "1 to 9999", Syntax: form.IntegerSyntax}
	paramMonth       = form.Parameter{Name: "month", Hint: "1 to 12", Syntax: form.IntegerSyntax}
	paramDay         = form.Parameter{Name: "day", Hint: "1 to 31", Syntax: form.IntegerSyntax}
	paramWeather     = form.Parameter{Name: "weather", Hint: "one of 晴空萬里, 狂風暴雨, 陰雨綿綿, 雨過天晴, 烏雲滿天, 大雪數日, 有彩虹"}
	paramReplyBlogID = form.Parameter{Name: "replyBlogID", Hint: idHint + ", or empty for none", Syntax: form.IntegerSyntax}
	paramZoomLevel   = form.Parameter{Name: "zoomLevel", Hint: "0 to 21", Syntax: form.IntegerSyntax}
	paramMapType     = form.Parameter{Name: "mapType", Hint: "1 to 3", Syntax: form.IntegerSyntax}

	// paramWholeDate names a date that the calendar lacks, although its year, month and day are
	// in range. It has no value of its own.
	paramWholeDate = form.Parameter{Name: "day", Hint: "no such day in that month"}
)

// createBlogRequest reads the parameters of postBlog (rule 7.5).
func createBlogRequest(in *Input) *blogv1.CreateBlogRequest {
	return &blogv1.CreateBlogRequest{
		RequestId:   newRequestID(),
		AuthorId:    int64(in.User),
		Type:        required(in, &paramBlogType, "type", asBlogType),
		Location:    requiredLocation(in),
		Title:       required(in, &paramBlogTitle, "title", form.Text),
		Content:     required(in, &paramBlogContent, "content", form.Text),
		PostDate:    requiredDate(in),
		Weather:     required(in, &paramWeather, "weather", asWeather),
		ReplyBlogId: form.Or(optional(in, &paramReplyBlogID, "reply_blog_id", asQuote), 0),
		ZoomLevel:   optional(in, &paramZoomLevel, "zoom_level", form.Int32),
		MapType:     form.Or(optional(in, &paramMapType, "map_type", form.Enum[blogv1.MapType]), 0),
	}
}

func requiredDate(in *Input) *typev1.Date {
	date := &typev1.Date{
		Year:  required(in, &paramYear, "post_date.year", form.Int32),
		Month: required(in, &paramMonth, "post_date.month", form.Int32),
		Day:   required(in, &paramDay, "post_date.day", form.Int32),
	}
	in.Imply(&paramWholeDate, "post_date")
	return date
}

func writeNewBlog(out reply.Writer, response *blogv1.CreateBlogResponse) {
	out.Integer("blogID", response.GetBlog().GetBlogId())
	out.Integer("reward", response.GetBlog().GetReward())
}

// updateBlogRequest reads the parameters of updateBlog (rule 7.13). An absent optional parameter
// leaves the value unchanged (rule 7.15). An empty replyBlogID removes the quote (rule 7.11).
func updateBlogRequest(in *Input) *blogv1.UpdateBlogRequest {
	return &blogv1.UpdateBlogRequest{
		ActorId:     int64(in.User),
		BlogId:      required(in, &paramBlogID, "blog_id", form.ID),
		Type:        new(required(in, &paramBlogType, "type", asBlogType)),
		Location:    requiredLocation(in),
		Title:       new(required(in, &paramBlogTitle, "title", form.Text)),
		Content:     new(required(in, &paramBlogContent, "content", form.Text)),
		PostDate:    requiredDate(in),
		Weather:     new(required(in, &paramWeather, "weather", asWeather)),
		ReplyBlogId: clearable(in, &paramReplyBlogID, "reply_blog_id", asQuote),
		ZoomLevel:   optional(in, &paramZoomLevel, "zoom_level", form.Int32),
		MapType:     optional(in, &paramMapType, "map_type", form.Enum[blogv1.MapType]),
	}
}

// deleteBlogRequest reads only the identifier (rules 4.16 and 4.18).
func deleteBlogRequest(in *Input) *blogv1.DeleteBlogRequest {
	return &blogv1.DeleteBlogRequest{
		ActorId: int64(in.User),
		BlogId:  required(in, &paramBlogID, "blog_id", form.ID),
	}
}

// getBlogRequest reads the parameter of getBlog (rule 7.18).
func getBlogRequest(in *Input) *blogv1.GetBlogRequest {
	return &blogv1.GetBlogRequest{BlogId: required(in, &paramBlogID, "blog_id", form.ID)}
}

// writeBlog returns the function that writes a blog.
func writeBlog(ids ids) func(context.Context, *Config, *reply.Reply, *blogv1.GetBlogResponse) error {
	comments := comments(ids)
	return func(ctx context.Context, c *Config, out *reply.Reply, response *blogv1.GetBlogResponse) error {
		blog := response.GetBlog()
		if ids == withIDs {
			out.Integer("authorID", blog.GetAuthor().GetUserId())
		}
		writeBlogItself(out.Writer, blog)
		return writePages(ctx, c, out, comments, response.GetComments(), response.GetNextCommentsToken(),
			c.Blog.ListComments, (*blogv1.ListCommentsResponse).GetComments,
			func() *blogv1.ListCommentsRequest { return &blogv1.ListCommentsRequest{BlogId: blog.GetBlogId()} })
	}
}

func writeBlogItself(out reply.Writer, blog *blogv1.Blog) {
	out.Text("authorName", blog.GetAuthor().GetName())
	out.Text("authorIcon", blog.GetAuthor().GetIconUrl())
	out.Text("type", nameOf(blogTypes[:], blog.GetType()))
	writeLocation(out, blog.GetLocation())
	out.Text("blogTitle", blog.GetTitle())
	out.Text("blogContent", blog.GetContent())
	date := blog.GetPostDate()
	reply.Date(out, "postDate", int(date.GetYear()), int(date.GetMonth()), int(date.GetDay()))
	out.Text("weather", nameOf(weathers[:], blog.GetWeather()))
	if quoted := blog.GetReplyBlogId(); quoted != 0 {
		out.ID("replyBlogID", quoted, blog.GetReplyOldId())
	}
	out.Integer("zoomLevel", int64(blog.GetZoomLevel()))
	out.Integer("mapType", int64(blog.GetMapType()))
	out.Integer("score", blog.GetScore())
	if vote := blog.GetVote(); vote != nil {
		writeVote(out, vote)
	}
}

// writeVote writes a vote (rule 7.20). It writes all choices at once, because there are few.
func writeVote(out reply.Writer, vote *blogv1.Vote) {
	out.Begin("vote")
	out.Text("description", vote.GetDescription())
	out.BeginList("choices")
	for i, choice := range vote.GetChoices() {
		out.BeginItem("choice", i+1)
		out.Text("description", choice.GetDescription())
		out.Integer("votes", choice.GetVotes())
		out.EndItem("choice", i+1)
	}
	out.EndList("choices")
	out.End("vote")
}

// streamBlogsRequest reads the parameters of getUserBlogList (rules 7.27, 9.2 and 9.4).
func streamBlogsRequest(in *Input) *blogv1.StreamBlogsRequest {
	return &blogv1.StreamBlogsRequest{
		AuthorId:    required(in, &paramUserID, "author_id", form.ID),
		Limit:       askedLimit(in),
		AfterBlogId: form.Or(optional(in, &paramAfter, "after_blog_id", form.ID), 0),
		Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
	}
}

var blogList = reply.List[*blogv1.BlogSummary]{Name: "blogList", Item: "blog", WriteItem: func(out reply.Writer, blog *blogv1.BlogSummary) {
	out.ID("blogID", blog.GetBlogId(), blog.GetOldId())
	out.Text("blogTitle", blog.GetTitle())
}}

func blogIDs(blog *blogv1.BlogSummary) (id int64, oldID string) {
	return blog.GetBlogId(), blog.GetOldId()
}
