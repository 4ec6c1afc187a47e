package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// page requests one page and returns its ids and the next page token.
type page func(ctx context.Context, size int32, token string) ([]int64, string, error)

// all returns the ids on all pages of a size. Only the last may be short, and only that of an empty list is empty.
func (p page) all(t *testing.T, size int32) (all []int64) {
	t.Helper()
	for token := ""; ; {
		ids, next, err := p(t.Context(), size, token)
		got(t, 0, err)
		if size > 0 && len(ids) > int(size) || next != "" && (len(ids) == 0 || len(ids) < int(size)) || len(ids) == 0 && token != "" {
			t.Errorf("a page of %d has %d, and the next page token is %q", size, len(ids), next)
		}
		all = append(all, ids...)
		if token = next; token == "" {
			return all
		}
	}
}

// idsOf returns the ids of items.
func idsOf[T any](items []T, idOf func(T) int64) []int64 {
	ids := make([]int64, len(items))
	for i, item := range items {
		ids[i] = idOf(item)
	}
	return ids
}

// listed is the number of items in each list of w.pages.
const listed = 23

// pages returns all lists, each with listed items.
func (w *waybook) pages(owner int64) map[string]page {
	w.t.Helper()
	threads := w.items(owner)
	for i := range listed {
		for _, thread := range threads {
			if must(thread.add(w.t.Context(), owner, "", "x"))(w.t); thread.hasPhotos() {
				must(thread.send(w.t.Context(), "AddPhoto", fields{"actor_id": owner, "id": thread.id, "url": "x"}))(w.t)
			}
			if i < listed-2 || i < listed-1 && thread.name != "Poi" { // ListPois has that of addChoices, too
				thread.create(owner, fmt.Sprint(i))
			}
		}
	}
	kinds := w.kinds()
	albums, blogs, pois := kinds[0], kinds[1], kinds[2]
	all := map[string]page{
		"ListAlbums": albums.page("List", fields{"owner": owner}, "albums", "album_id"),
		"ListBlogs":  blogs.page("List", fields{"owner": owner}, "blogs", "blog_id"),
		"ListPois":   pois.page("List", fields{"category": 1}, "pois", "poi_id"),
	}
	w.addChoices(all)
	for _, thread := range threads {
		all[thread.service+" ListComments"] = thread.page("ListComments", fields{"id": thread.id}, "comments", "comment_id")
		all[thread.service+" ListCommentsByAuthor"] = thread.page(
			"ListCommentsByAuthor", fields{"author_id": owner, "kind": int(thread.of)}, "comments", "comment_id")
		if thread.hasPhotos() {
			all[thread.service+" ListPhotos"] = thread.page("ListPhotos", fields{"id": thread.id}, "photos", "photo_id")
		}
	}
	return all
}

// addChoices adds the lists of users who chose.
func (w *waybook) addChoices(to map[string]page) {
	w.t.Helper()
	items := w.items(w.newUser("owner"))
	blog := items[1]
	for i := range listed {
		user := w.newUser(fmt.Sprint(i))
		for _, item := range items {
			must(item.recommend(w.t.Context(), user, item.id))(w.t)
		}
		must(w.Blog.CastBallot(w.t.Context(), &blogv1.CastBallotRequest{VoterId: user, BlogId: blog.id, Choice: 1 + int32(i%3)}))(w.t)
	}
	for _, item := range items {
		to[item.service+" ListRecommenders"] = item.page("ListRecommenders", fields{"id": item.id}, "recommenders", "user_id")
	}
	to["ListBallots"] = blog.page("ListBallots", fields{"id": blog.id}, "ballots", "voter.user_id")
}

func TestPagesShowEverythingOnceInCreationOrder(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, page := range w.pages(w.newUser("a")) {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int32{0, 1, 2, 7, listed - 1, listed, listed + 1, 100} {
				all := page.all(t, size)
				if len(all) != listed || !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != listed {
					t.Errorf("pages of %d show %v", size, all)
				}
			}
		})
	}
}

func TestATokenOfAnotherListIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	pages := w.pages(w.newUser("a"))
	tokens := map[string]string{"nonsense": "nonsense", "blank": " ", "long": fmt.Sprintf("%01000d", 0)}
	for name, page := range pages {
		_, next, err := page(t.Context(), 5, "")
		tokens["of "+name] = got(t, next, err)
	}
	for name, page := range pages {
		own := tokens["of "+name]
		for kind, token := range tokens {
			if kind != "of "+name {
				t.Run(name+" with "+kind, func(t *testing.T) {
					_, _, err := page(t.Context(), 5, token)
					expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
				})
			}
		}
		for kind, token := range map[string]string{"cut": own[:len(own)-2], "longer": own + "AA"} {
			t.Run(name+" with its own "+kind, func(t *testing.T) {
				_, _, err := page(t.Context(), 5, token)
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "page_token")
			})
		}
		t.Run(name+" with too high a page_size", func(t *testing.T) {
			most, _, err := page(t.Context(), 1001, "")
			got(t, most, err)
			if least, _, err := page(t.Context(), 0, ""); err != nil || len(most) < len(least) {
				t.Errorf("%d items of at most %d, %d of the default, %v", len(most), 1001, len(least), err)
			}
			_, _, err = page(t.Context(), -1, "")
			expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "page_size")
		})
	}
}

// collect receives a stream to its end.
func collect[T any](stream grpc.ServerStreamingClient[T], err error) (batches []*T, _ error) {
	for err == nil {
		var batch *T
		if batch, err = stream.Recv(); err == nil {
			batches = append(batches, batch)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return batches, err
}

// summaryIDs returns the identifiers of summaries.
func summaryIDs(content []*typev1.Summary) []int64 { return idsOf(content, (*typev1.Summary).GetId) }

// summaries returns the summaries on all pages of a list. Pages of published entries may be short.
func (k kind) summaries(ctx context.Context, values fields, size int32) (all []*typev1.Summary, err error) {
	for token := ""; ; {
		reply, err := k.send(ctx, "List", fields{"view": int(typev1.View_VIEW_SUMMARY), "page_size": size, "page_token": token}.and(values))
		if err != nil {
			return nil, err
		}
		all = append(all, readAll[*typev1.Summary](reply, "summaries")...)
		if token = read[string](reply, "next_page_token"); token == "" {
			return all, nil
		}
	}
}

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

func (i item) add(ctx context.Context, author int64, requestID, text string) (*commentv1.Comment, error) {
	reply, err := i.send(ctx, "AddComment", fields{"author_id": author, "id": i.id, "request_id": requestID, "text": text})
	return read[*commentv1.Comment](reply, "comment"), err
}

// first returns the comments that a read of the content includes.
func (i item) first() ([]*commentv1.Comment, string) {
	reply := i.get(i.id)
	return readAll[*commentv1.Comment](reply, "comments"), read[string](reply, "next_comments_token")
}

func TestTheFirst200CommentsComeWithTheContent(t *testing.T) {
	t.Parallel()
	const count = 203
	w := start(t)
	owner := w.newUser("a")
	for _, thread := range w.items(owner) {
		t.Run(thread.service, func(t *testing.T) {
			for i := range count {
				must(thread.add(t.Context(), owner, "", fmt.Sprint(i)))(t)
			}
			shown, next := thread.first()
			if len(shown) != 200 || next == "" {
				t.Fatalf("%d comments, token %q", len(shown), next)
			}
			reply := must(thread.send(t.Context(), "ListComments", fields{"id": thread.id, "page_size": int32(100), "page_token": next}))(t)
			rest := readAll[*commentv1.Comment](reply, "comments")
			if next := read[string](reply, "next_page_token"); next != "" || len(rest) != count-200 {
				t.Fatalf("%d more, token %q", len(rest), next)
			}
			for i, c := range append(shown, rest...) {
				if c.GetText() != fmt.Sprint(i) {
					t.Fatalf("comment %d is %v", i, c)
				}
			}
		})
	}
}

// recent lists recent content of a category.
func (k kind) recent(category int) page {
	order := int(typev1.ListOrder_LIST_ORDER_NEWEST_FIRST)
	if k.name == "Blog" {
		order = int(blogv1.BlogOrder_BLOG_ORDER_RECENT)
	}
	return k.page("List", fields{"category": category, "order": order}, k.lowers(), string(k.field("id")))
}

func TestRecentEntriesArePublishedOnesByPlannedDate(t *testing.T) {
	t.Parallel()
	p := startParts(t) // on 2026-05-01
	entries := p.kinds()[1]
	ann, ben := p.newUser("a"), p.newUser("b")
	post := func(author int64, category int, month, day int32) int64 {
		id := entries.createWith(author, "x", fields{"category": category, "post_date": &typev1.Date{Year: 2026, Month: month, Day: day}})
		p.Clock.Advance(time.Second)
		return id
	}
	tomorrow := post(ann, 1, 5, 2)
	old := post(ben, 2, 3, 1)
	today := post(ann, 1, 5, 1)
	yesterday := post(ben, 1, 4, 30)
	todayToo := post(ben, 2, 5, 1)
	for category, want := range [][]int64{{todayToo, today, yesterday, old}, {today, yesterday}, {todayToo, old}, nil} {
		for _, size := range []int32{0, 1, 3} {
			if ids := entries.recent(category).all(t, size); !slices.Equal(ids, want) {
				t.Errorf("type %d in pages of %d: %d, want %d", category, size, ids, want)
			}
		}
	}
	first, token, err := entries.recent(0)(t.Context(), 2, "")
	got(t, first, err)
	p.Clock.Advance(24 * time.Hour)
	rest, _, err := entries.recent(0)(t.Context(), 10, token)
	if got(t, 0, err); !slices.Equal(rest, []int64{yesterday, old}) {
		t.Errorf("after midnight the walk continues with %d", rest)
	}
	if ids := entries.recent(0).all(t, 0); !slices.Equal(ids, []int64{tomorrow, todayToo, today, yesterday, old}) {
		t.Errorf("a new walk shows %d", ids)
	}
}

func TestAListOfRecentContentFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w := start(t)
	owner := w.newUser("a")
	for _, k := range w.kinds() {
		k.create(owner, "x")
		k.create(owner, "x")
		_, token, err := k.recent(0)(t.Context(), 1, "")
		if got(t, token, err) == "" {
			t.Fatal("there is no second page")
		}
		for what, test := range map[string]struct {
			category int
			size     int32
			token    string
			field    string
		}{
			"an unknown category":          {77, 0, "", string(k.category)},
			"a token of all categories":    {1, 0, token, "page_token"},
			"a token cut short":            {0, 0, token[:len(token)-1], "page_token"},
			"a token of a day that is not": {0, 0, "99991231" + token[min(8, len(token)):], "page_token"},
		} {
			t.Run(k.service+" "+what, func(t *testing.T) {
				_, _, err := k.recent(test.category)(t.Context(), test.size, test.token)
				expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", test.field)
			})
		}
	}
}
