package rpc_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
			all = append(all, entry{author, must(w.blog.CreateBlog(w.t.Context(), request))(w.t).GetBlog().GetBlogId(), dateOf(day)})
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
		reply := must(w.blog.ListBlogs(w.t.Context(), request))(w.t)
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

func TestAnEntryMovesWithItsPlannedDate(t *testing.T) {
	t.Parallel()
	w := start(t)
	author := w.newUser("a")
	id := w.newBlog(author)
	day := &typev1.Date{Year: 2030, Month: 10, Day: 9}
	must(w.blog.UpdateBlog(t.Context(), &blogv1.UpdateBlogRequest{ActorId: author, BlogId: id, PostDate: day}))(t)
	for _, who := range []int64{0, author} {
		for _, list := range []struct {
			from, to *typev1.Date
			want     int
		}{{nil, newBlogRequest(author).GetPostDate(), 0}, {day, day, 1}} {
			listed := w.walkDates(&blogv1.ListBlogsRequest{AuthorId: who, Order: byDate, PostDateFrom: list.from, PostDateTo: list.to})
			if len(listed) != list.want {
				t.Errorf("author %d from %v to %v: %v", who, list.from, list.to, listed)
			}
		}
	}
	must(w.blog.DeleteBlog(t.Context(), &blogv1.DeleteBlogRequest{ActorId: author, BlogId: id}))(t)
	if listed := w.walkDates(&blogv1.ListBlogsRequest{Order: byDate}); len(listed) != 0 {
		t.Errorf("a deleted entry is listed: %v", listed)
	}
}

func TestAListWithoutEntriesIsEmptyUnlessItsAuthorIsUnknown(t *testing.T) {
	t.Parallel()
	w := start(t)
	request := &blogv1.ListBlogsRequest{Order: byDate}
	if listed := w.walkDates(request); len(listed) != 0 {
		t.Errorf("all authors have %v", listed)
	}
	request.AuthorId = w.newUser("a")
	if listed := w.walkDates(request); len(listed) != 0 {
		t.Errorf("a new user has %v", listed)
	}
	w.newBlog(request.GetAuthorId())
	request.PostDateFrom = &typev1.Date{Year: 2099, Month: 1, Day: 1}
	if listed := w.walkDates(request); len(listed) != 0 {
		t.Errorf("in a later year there is %v", listed)
	}
	request.AuthorId = 1
	expectFault(t, failed(w.blog.ListBlogs(t.Context(), request)), codes.NotFound, "USER_NOT_FOUND")
}

func TestPublishedEntriesAreThoseOfTodayAndEarlier(t *testing.T) {
	t.Parallel()
	p := startParts(t) // on May 1, 2026
	a, b := p.newUser("a"), p.newUser("b")
	all := p.plan(a, b)
	for _, today := range []*typev1.Date{{Year: 2026, Month: 5, Day: 1}, {Year: 2026, Month: 5, Day: 2}} {
		for _, author := range []int64{0, a} {
			for _, size := range []int32{1, 3, 100} {
				listed := p.walkDates(&blogv1.ListBlogsRequest{
					AuthorId: author, Order: byDate, Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED, PageSize: size,
				})
				if want := between(all, author, nil, today); !slices.Equal(listed, want) {
					t.Errorf("on %v author %d, %d a page: %v, want %v", today, author, size, listed, want)
				}
			}
		}
		p.advance(24 * time.Hour)
	}
}

func TestAnInvalidListRequestSaysHowToCorrectIt(t *testing.T) {
	t.Parallel()
	w := start(t)
	for message, request := range map[string]*blogv1.ListBlogsRequest{
		"author_id: must be given, unless entries are listed by planned date": {},
		"order: must be by planned date when entries are chosen by that":      {AuthorId: 1, PostDateFrom: planned[0]},
	} {
		if got := status.Convert(failed(w.blog.ListBlogs(t.Context(), request))).Message(); got != message {
			t.Errorf("the message is %q, want %q", got, message)
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
		"of everybody up to a day": func() *blogv1.ListBlogsRequest {
			return &blogv1.ListBlogsRequest{Order: byDate, PostDateTo: planned[2]}
		},
	}
	for name, request := range requests {
		first := request()
		first.PageSize = 1
		token := must(w.blog.ListBlogs(t.Context(), first))(t).GetNextPageToken()
		for other, elsewhere := range requests {
			if other == name {
				continue
			}
			t.Run("that of "+name+" "+other, func(t *testing.T) {
				request := elsewhere()
				request.PageToken = token
				expectFault(t, failed(w.blog.ListBlogs(t.Context(), request)), codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
			})
		}
	}
}
