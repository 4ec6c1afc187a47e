package operation

import (
	"context"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// getBlog reads an entry with its vote and its comments (rules 7.18 and 17.15).
func getBlog(c *Config) Function {
	return Function{
		Name: "getBlog", Rule: "7.18", Title: form.Title{"Read a diary entry", "讀取日記"}, Effect: Reads,
		Operations: withAndWithoutIDs(c, func(in *Input) *blogv1.GetBlogRequest {
			return &blogv1.GetBlogRequest{BlogId: required(in, &paramBlogID, "blog_id", form.ID)}
		}, c.Blog.GetBlog, writeBlog),
	}
}

func writeBlog(variant Variant) func(context.Context, *Config, *reply.Reply, *blogv1.GetBlogResponse) error {
	comments := comments(variant)
	return func(ctx context.Context, c *Config, out *reply.Reply, response *blogv1.GetBlogResponse) error {
		blog := response.GetBlog()
		if variant == WithIDs {
			out.Integer("authorID", blog.GetAuthor().GetUserId())
		}
		out.Text("authorName", blog.GetAuthor().GetName())
		out.Text("authorIcon", blog.GetAuthor().GetIconUrl())
		out.Text("type", nameOf(blogTypes[:], blog.GetType()))
		writeLocation(out.Writer, blog.GetLocation())
		out.Text("blogTitle", blog.GetTitle())
		out.Text("blogContent", blog.GetContent())
		writePostDate(out.Writer, blog.GetPostDate())
		writeWeatherAndQuote(out.Writer, blog)
		out.Integer("zoomLevel", int64(blog.GetZoomLevel()))
		out.Integer("mapType", int64(blog.GetMapType()))
		out.Integer("score", blog.GetScore())
		if vote := blog.GetVote(); vote != nil {
			writeVote(out.Writer, vote)
		}
		return writeComments(ctx, c, out, comments, contentID{"blog_id", blog.GetBlogId()}, response.GetComments(),
			response.GetNextCommentsToken())
	}
}
