package operation

import (
	"time"

	"github.com/waybook/waybook/edge/form"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// getDatedBlogList lists the published entries of a year, a month or a day (rule 17.19).
func getDatedBlogList(c *Config) Function {
	return Function{
		Name: "getDatedBlogList", Rule: "17.19", Title: form.Title{"List diary entries by date", "依日期列出日誌"}, Effect: Reads, IsAddition: true,
		Operations: only(tokenList(c, datedBlogsRequest, c.Blog.ListBlogs, (*blogv1.ListBlogsResponse).GetBlogs, shownBlogs)),
	}
}

// paramAuthorID is paramUserID, or 0 for all users.
var paramAuthorID = form.Parameter{Name: "userID", Title: paramUserID.Title, Hint: idHint, Syntax: form.IntegerSyntax}

// datedBlogsRequest sets the last day only if the first one exists; the service refuses one that does not.
func datedBlogsRequest(in *Input) *blogv1.ListBlogsRequest {
	author := form.Or(optional(in, &paramAuthorID, "author_id", form.ID), 0)
	first := &typev1.Date{Year: required(in, &paramYear, "post_date_from.year", form.Int32)}
	var month *int32
	if in.Has(&paramDay) {
		month = new(required(in, &paramMonth, "post_date_from.month", form.Int32))
	} else {
		month = optional(in, &paramMonth, "post_date_from.month", form.Int32)
	}
	day := optional(in, &paramDay, "post_date_from.day", form.Int32)
	first.Month, first.Day = form.Or(month, 1), form.Or(day, 1)
	in.Imply(&paramWholeDate, "post_date_from")
	in.Imply(&paramYear, "post_date_to.year")
	in.Imply(&paramMonth, "post_date_to.month")
	in.Imply(&paramDay, "post_date_to.day")
	request := &blogv1.ListBlogsRequest{
		AuthorId: author, Order: blogv1.BlogOrder_BLOG_ORDER_POST_DATE,
		Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, PostDateFrom: first,
	}
	date := time.Date(int(first.GetYear()), time.Month(first.GetMonth()), int(first.GetDay()), 0, 0, 0, 0, time.UTC)
	if date.Month() == time.Month(first.GetMonth()) && date.Day() == int(first.GetDay()) {
		switch {
		case month == nil:
			date = date.AddDate(1, 0, -1)
		case day == nil:
			date = date.AddDate(0, 1, -1)
		}
		request.PostDateTo = &typev1.Date{Year: first.GetYear(), Month: int32(date.Month()), Day: int32(date.Day())}
	}
	return request
}
