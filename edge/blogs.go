package edge

import (
	"context"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// createBlogRequest: contract 4.10.
func createBlogRequest(in *input) *blogv1.CreateBlogRequest {
	return &blogv1.CreateBlogRequest{
		RequestId:   newRequestID(),
		AuthorId:    int64(in.user),
		Type:        required(in, &paramBlogType, asBlogType),
		Location:    requiredLocation(in),
		Title:       required(in, &paramBlogTitle, asText),
		Content:     required(in, &paramBlogContent, asText),
		PostDate:    requiredDate(in),
		Weather:     required(in, &paramWeather, asWeather),
		ReplyBlogId: valueOr(optional(in, &paramReplyBlogID, asQuote), 0),
		ZoomLevel:   optional(in, &paramZoomLevel, asInt32),
		MapType:     valueOr(optional(in, &paramMapType, asNumber[blogv1.MapType]), 0),
	}
}

func requiredDate(in *input) *typev1.Date {
	date := &typev1.Date{
		Year:  required(in, &paramYear, asInt32),
		Month: required(in, &paramMonth, asInt32),
		Day:   required(in, &paramDay, asInt32),
	}
	in.imply(&paramWholeDate)
	return date
}

func writeNewBlog(out reply, response *blogv1.CreateBlogResponse) {
	out.integer("blogID", response.GetBlog().GetBlogId())
	out.integer("reward", response.GetBlog().GetReward())
}

// updateBlogRequest: contract 4.11. An absent optional parameter leaves what
// was; an empty replyBlogID removes the quote.
func updateBlogRequest(in *input) *blogv1.UpdateBlogRequest {
	return &blogv1.UpdateBlogRequest{
		ActorId:     int64(in.user),
		BlogId:      required(in, &paramBlogID, asID),
		Type:        new(required(in, &paramBlogType, asBlogType)),
		Location:    requiredLocation(in),
		Title:       new(required(in, &paramBlogTitle, asText)),
		Content:     new(required(in, &paramBlogContent, asText)),
		PostDate:    requiredDate(in),
		Weather:     new(required(in, &paramWeather, asWeather)),
		ReplyBlogId: optional(in, &paramReplyBlogID, asQuote),
		ZoomLevel:   optional(in, &paramZoomLevel, asInt32),
		MapType:     optional(in, &paramMapType, asNumber[blogv1.MapType]),
	}
}

// deleteBlogRequest: contract 4.12.
func deleteBlogRequest(in *input) *blogv1.DeleteBlogRequest {
	return &blogv1.DeleteBlogRequest{
		ActorId: int64(in.user),
		BlogId:  required(in, &paramBlogID, asID),
	}
}

// getBlogRequest: contract 4.13.
func getBlogRequest(in *input) *blogv1.GetBlogRequest {
	return &blogv1.GetBlogRequest{BlogId: required(in, &paramBlogID, asID)}
}

func writeBlog(blogs blogv1.BlogServiceClient) func(*exchange, *blogv1.GetBlogResponse) error {
	return func(x *exchange, response *blogv1.GetBlogResponse) error {
		blog := response.GetBlog()
		writeBlogItself(x.out, blog)
		return comments.writePages(x, response.GetComments(), response.GetNextCommentsToken(),
			func(ctx context.Context, token string) ([]*typev1.Comment, string, error) {
				page, err := blogs.ListComments(ctx, &blogv1.ListCommentsRequest{
					BlogId: blog.GetBlogId(), PageSize: pageSize, PageToken: token,
				})
				return page.GetComments(), page.GetNextPageToken(), err
			})
	}
}

func writeBlogItself(out reply, blog *blogv1.Blog) {
	out.text("authorName", blog.GetAuthor().GetName())
	out.text("authorIcon", blog.GetAuthor().GetIconUrl())
	out.text("type", nameOf(blogTypes[:], blog.GetType()))
	writeLocation(out, blog.GetLocation())
	out.text("blogTitle", blog.GetTitle())
	out.text("blogContent", blog.GetContent())
	date := blog.GetPostDate()
	writeDate(out, "postDate", int(date.GetYear()), int(date.GetMonth()), int(date.GetDay()))
	out.text("weather", nameOf(weathers[:], blog.GetWeather()))
	if quoted := blog.GetReplyBlogId(); quoted != 0 {
		out.integer("replyBlogID", quoted)
	}
	out.integer("zoomLevel", int64(blog.GetZoomLevel()))
	out.integer("mapType", int64(blog.GetMapType()))
	out.integer("score", blog.GetScore())
	if vote := blog.GetVote(); vote != nil {
		writeVote(out, vote)
	}
}

// writeVote: contract 2.5. A vote has few choices, so it is written at once.
func writeVote(out reply, vote *blogv1.Vote) {
	out.begin("vote")
	out.text("description", vote.GetDescription())
	out.beginList("choices")
	for i, choice := range vote.GetChoices() {
		out.beginItem("choice", i+1)
		out.text("description", choice.GetDescription())
		out.integer("votes", choice.GetVotes())
		out.endItem("choice", i+1)
	}
	out.endList("choices")
	out.end("vote")
}
