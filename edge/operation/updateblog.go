package operation

import (
	"github.com/waybook/waybook/edge/form"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// updateBlog changes an entry (rules 7.13 to 7.15) or deletes it (rules 4.16 to 4.19).
func updateBlog(c *Config) Function {
	return Function{
		Name: "updateBlog", Rule: "7.13", Title: form.Title{"Change a diary entry", "修改日記"}, Effect: Writes,
		Operations: []Operation{
			{handler: unary(c, func(in *Input) *blogv1.UpdateBlogRequest {
				return &blogv1.UpdateBlogRequest{
					ActorId:     int64(in.User),
					BlogId:      required(in, &paramBlogID, "blog_id", form.ID),
					Type:        new(required(in, &paramBlogType, "type", asBlogType)),
					Location:    requiredLocation(in),
					Title:       new(required(in, &paramBlogTitle, "title", form.Text)),
					Content:     new(required(in, &paramBlogContent, "content", form.Text)),
					PostDate:    requiredDate(in),
					Weather:     new(required(in, &paramWeather, "weather", asWeather)),
					ReplyBlogId: form.Clearable(&in.Reader, &paramReplyBlogID, "reply_blog_id", asQuote),
					ZoomLevel:   optional(in, &paramZoomLevel, "zoom_level", form.Int32),
					MapType:     optional(in, &paramMapType, "map_type", form.Enum[blogv1.MapType]),
				}
			}, c.Blog.UpdateBlog, writeNothing)},
			{
				Variant: Deleting, Rule: "4.16", Title: form.Title{"Delete a diary entry", "刪除日記"},
				handler: unary(c, func(in *Input) *blogv1.DeleteBlogRequest {
					return &blogv1.DeleteBlogRequest{ActorId: int64(in.User),
						BlogId: required(in, &paramBlogID, "blog_id", form.ID)}
				}, c.Blog.DeleteBlog, writeNothing),
			},
		},
	}
}
