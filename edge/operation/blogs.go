package operation

import (
	"context"
	"fmt"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The parameters of blogs (rules 7.5 to 7.18).
var (
	paramBlogID      = form.Parameter{Name: "blogID", Hint: idHint, Syntax: form.IntegerSyntax}
	paramBlogType    = form.Parameter{Name: "type", Hint: "0_0 to 0_8", Syntax: form.WordSyntax}
	paramBlogTitle   = form.Parameter{Name: "blogTitle", Hint: titleHint}
	paramBlogContent = form.Parameter{Name: "blogContent", Hint: "1 to 100000 characters"}
	paramYear        = form.Parameter{Name: "year", Hint: "1 to 9999", Syntax: form.IntegerSyntax}
	paramMonth       = form.Parameter{Name: "month", Hint: "1 to 12", Syntax: form.IntegerSyntax}
	paramDay         = form.Parameter{Name: "day", Hint: "1 to 31", Syntax: form.IntegerSyntax}
	paramWeather     = form.Parameter{Name: "weather", Hint: "one of 晴空萬里, 狂風暴雨, 陰雨綿綿, 雨過天晴, 烏雲滿天, 大雪數日, 有彩虹", Syntax: form.WordSyntax}
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
	out.ID("blogID", response.GetBlog().GetBlogId(), "")
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
			c.Comment.ListComments, (*commentv1.ListCommentsResponse).GetComments,
			func() *commentv1.ListCommentsRequest {
				return &commentv1.ListCommentsRequest{Parent: &commentv1.ListCommentsRequest_BlogId{BlogId: blog.GetBlogId()}}
			})
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

// userBlogsRequest reads the parameters of getUserBlogList (rules 7.27, 9.2 and 9.4).
func userBlogsRequest(in *Input) *blogv1.ListBlogsRequest {
	return &blogv1.ListBlogsRequest{
		View:        typev1.View_VIEW_SUMMARY,
		AuthorId:    required(in, &paramUserID, "author_id", asUserID),
		PageSize:    limitAndNext(in),
		AfterBlogId: form.Or(optional(in, &paramAfter, "after_blog_id", form.ID), 0),
		Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED,
	}
}

var blogList = summaries("blogList", "blog", "blogID", "blogTitle")

// maxChoices is the most choices of a vote.
const maxChoices = 20

// The parameters of votes (rules 17.13 and 17.14).
var (
	paramVoteDescription = form.Parameter{Name: "voteDescription", Hint: "1 to 500 characters", EmptyIsAbsent: true}
	paramChoices         = choiceParameters()
	paramChoice          = form.Parameter{Name: "choice", Hint: "1 to 20, a position", Syntax: form.IntegerSyntax}
)

// choiceParameters returns choice1 to choice20, and one more, which is refused.
func choiceParameters() (all [maxChoices + 1]form.Parameter) {
	for i := range all {
		all[i] = form.Parameter{Name: fmt.Sprint("choice", i+1), Hint: "1 to 200 characters", EmptyIsAbsent: true}
	}
	return all
}

// choiceFields are the fields that the choices feed.
var choiceFields = func() (all [maxChoices]string) {
	for i := range all {
		all[i] = fmt.Sprintf("vote.choices[%d]", i)
	}
	return all
}()

// postBlogRequest returns the function that reads the parameters of postBlog. A vote is an addition.
func postBlogRequest(c *Config) func(*Input) *blogv1.CreateBlogRequest {
	if c.Additions == AdditionsWithheld {
		return createBlogRequest
	}
	return createBlogAndVoteRequest
}

// createBlogAndVoteRequest reads the parameters of postBlog (rules 7.5 and 17.13).
func createBlogAndVoteRequest(in *Input) *blogv1.CreateBlogRequest {
	request := createBlogRequest(in)
	request.Vote = optionalVote(in)
	return request
}

// optionalVote reads the parameters of a vote. If any is sent, the description is required, and so
// are two choices and every choice before the last.
func optionalVote(in *Input) *blogv1.NewVote {
	isSent, needed := in.Has(&paramVoteDescription), 0
	for i := range paramChoices {
		if in.Has(&paramChoices[i]) {
			isSent, needed = true, i+1
		}
	}
	if isSent {
		needed = max(needed, 2)
	}
	vote := &blogv1.NewVote{Description: textIf(isSent, in, &paramVoteDescription, "vote.description")}
	for i := range paramChoices[:maxChoices] {
		if text := textIf(i < needed, in, &paramChoices[i], choiceFields[i]); i < needed {
			vote.Choices = append(vote.Choices, text)
		}
	}
	if needed > maxChoices {
		in.Reject(&paramChoices[maxChoices], "a vote has 2 to 20 choices")
	}
	if !isSent {
		return nil
	}
	return vote
}

// textIf reads a text that is required only under a condition.
func textIf(isRequired bool, in *Input, p *form.Parameter, field string) string {
	if isRequired {
		return required(in, p, field, form.Text)
	}
	return form.Or(optional(in, p, field, form.Text), "")
}

// castBallotRequest reads the parameters of castVote (rule 17.14).
func castBallotRequest(in *Input) *blogv1.CastBallotRequest {
	return &blogv1.CastBallotRequest{
		VoterId: int64(in.User),
		BlogId:  required(in, &paramBlogID, "blog_id", form.ID),
		Choice:  required(in, &paramChoice, "choice", form.Int32),
	}
}

func writeVoteNow(out reply.Writer, response *blogv1.CastBallotResponse) {
	writeVote(out, response.GetVote())
}
