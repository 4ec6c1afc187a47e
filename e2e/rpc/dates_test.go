package rpc_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const byDate = blogv1.BlogOrder_BLOG_ORDER_POST_DATE

// planned are the planned days of the entries, in the order of creation.
var planned = []*typev1.Date{
	{Year: 2026, Month: 5, Day: 2}, {Year: 2026, Month: 5, Day: 1}, {Year: 9999, Month: 12, Day: 31},
	{Year: 2026, Month: 12, Day: 1}, {Year: 2026, Month: 5, Day: 1}, {Year: 1, Month: 1, Day: 1},
	{Year: 2025, Month: 12, Day: 31}, {Year: 2026, Month: 5, Day: 31}, {Year: 2026, Month: 5, Day: 1},
}

// entry holds the fields by which a list by planned date is sorted.
type entry struct {
	author, id int64
	date       string
}

func dateOf(d *typev1.Date) string {
	return fmt.Sprintf("%04d-%02d-%02d", d.GetYear(), d.GetMonth(), d.GetDay())
}

// plan creates an entry for each planned day by each author in turn, and returns all entries by
// planned date.
func (w *waybook) plan(authors ...int64) []entry {
	w.t.Helper()
	var all []entry
	for _, day := range planned {
		for _, author := range authors {
			request := newBlogRequest(author)
			request.PostDate = day
			all = append(all, entry{author, must(w.Blog.CreateBlog(w.t.Context(), request))(w.t).GetBlog().GetBlogId(), dateOf(day)})
		}
	}
	// Entries of one day are in the order of their ids: of one author in creation order, and of others to
	// within a tick.
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(strings.Compare(a.date, b.date), cmp.Compare(a.id, b.id)) })
	return all
}

// walkDates returns all pages of a list.
func (w *waybook) walkDates(request *blogv1.ListBlogsRequest) []entry {
	w.t.Helper()
	var all []entry
	request.PageToken = ""
	for {
		reply := must(w.Blog.ListBlogs(w.t.Context(), request))(w.t)
		for _, b := range reply.GetBlogs() {
			all = append(all, entry{b.GetAuthor().GetUserId(), b.GetBlogId(), dateOf(b.GetPostDate())})
			if b.GetAuthor().GetName() == "" {
				w.t.Errorf("entry %d has an author without a name", b.GetBlogId())
			}
		}
		if request.PageToken = reply.GetNextPageToken(); request.PageToken == "" {
			return all
		}
	}
}

// between returns the entries of an author, or of all authors, from one day to another.
func between(all []entry, author int64, from, to *typev1.Date) []entry {
	return slices.DeleteFunc(slices.Clone(all), func(e entry) bool {
		return author != 0 && e.author != author || from != nil && e.date < dateOf(from) || to != nil && e.date > dateOf(to)
	})
}

func TestEntriesAreListedByPlannedDate(t *testing.T) {
	t.Parallel()
	w := start(t)
	a, b := w.newUser("a"), w.newUser("b")
	all := w.plan(a, b)
	bounds := []*typev1.Date{nil, {Year: 2026, Month: 1, Day: 1}, planned[1], planned[0], planned[2]}
	for _, author := range []int64{0, a, b} {
		for _, from := range bounds {
			for _, to := range bounds {
				want := between(all, author, from, to)
				for _, size := range []int32{1, 4, 100} {
					listed := w.walkDates(&blogv1.ListBlogsRequest{AuthorId: author, Order: byDate, PostDateFrom: from, PostDateTo: to, PageSize: size})
					if !slices.Equal(listed, want) {
						t.Errorf("author %d from %v to %v, %d a page: %v, want %v", author, from, to, size, listed, want)
					}
				}
			}
		}
	}
}

func TestATokenOfAnotherListOfEntriesIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	a, b := w.newUser("a"), w.newUser("b")
	w.plan(a, b)
	requests := map[string]func() *blogv1.ListBlogsRequest{
		"in creation order":  func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{AuthorId: a} },
		"by date":            func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{AuthorId: a, Order: byDate} },
		"of another by date": func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{AuthorId: b, Order: byDate} },
		"of everybody":       func() *blogv1.ListBlogsRequest { return &blogv1.ListBlogsRequest{Order: byDate} },
		"published of everybody": func() *blogv1.ListBlogsRequest {
			return &blogv1.ListBlogsRequest{Order: byDate, Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED}
		},
		"of everybody up to a day": func() *blogv1.ListBlogsRequest {
			return &blogv1.ListBlogsRequest{Order: byDate, PostDateTo: planned[3]}
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
