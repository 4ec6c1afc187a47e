package rpc_test

import (
	"testing"

	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const byDate = blogv1.BlogOrder_BLOG_ORDER_POST_DATE

// planned are planned days of entries.
var planned = []*typev1.Date{{Year: 2026, Month: 5, Day: 1}, {Year: 2026, Month: 5, Day: 2}, {Year: 9999, Month: 12, Day: 31}}

func TestATokenOfAnotherListOfEntriesIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	a, b := w.newUser("a"), w.newUser("b")
	for _, author := range []int64{a, a, b, b} {
		for _, day := range planned {
			request := newBlogRequest(author)
			request.PostDate = day
			must(w.Blog.CreateBlog(t.Context(), request))(t)
		}
	}
	requests := map[string]func() *blogv1.ListBlogsRequest{
		"in creation order":  func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{AuthorId: a} },
		"by date":            func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{AuthorId: a, Order: byDate} },
		"of another by date": func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{AuthorId: b, Order: byDate} },
		"of everybody":       func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{Order: byDate} },
		"published of everybody": func() *blogv1.ListBlogsRequest {
			return &blogv1.ListBlogsRequest{Order: byDate, Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED}
		},
		"of everybody up to a day": func() *blogv1.ListBlogsRequest {
			return &blogv1.ListBlogsRequest{Order: byDate, PostDateTo: planned[1]}
		},
	}
	for name, request := range requests {
		first := request()
		first.PageSize = 1
		token := must(w.Blog.ListBlogs(t.Context(), first))(t).GetNextPageToken()
		for other, elsewhere := range requests {
			if other == name {
				continue
			}
			t.Run("that of "+name+" "+other, func(t *testing.T) {
				request := elsewhere()
				request.PageToken = token
				expectFault(t, failed(w.Blog.ListBlogs(t.Context(), request)), codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
			})
		}
	}
}
