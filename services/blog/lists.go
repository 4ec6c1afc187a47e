package blog

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// maxEntries is how many whole entries a page has at most.
const maxEntries = 100

// today is the last day whose entries are published, in the zone of the service.
func (s *server) today() day { return dayOf(s.now().In(s.zone)) }

// lastDay is a day after all others.
const lastDay = day(99991231)

// ListBlogs returns a page of entries.
func (s *server) ListBlogs(ctx context.Context, request *blogv1.ListBlogsRequest) (*blogv1.ListBlogsResponse, error) {
	if request.GetBox() != nil {
		return s.listInBox(ctx, request)
	}
	author, token, last, hidden := request.GetAuthorId(), request.GetPageToken(), lastDay, s.blogs.HiddenIn(ctx,
		request)
	if err := hidden.Require(author); err != nil {
		return nil, err
	}
	isRecent := request.GetOrder() == blogv1.BlogOrder_BLOG_ORDER_RECENT
	isPublished := isRecent || request.GetPublication() == blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED
	var today day // when the walk began
	if isPublished {
		var err error
		if today, token, err = parseRecent(token, s.today()); err != nil {
			return nil, err
		}
		last = today
	}
	if to := request.GetPostDateTo(); to != nil {
		last = min(last, dayFromProto(to))
	}
	query := docstore.Query{
		Where: listed(request, last), Of: request.GetPublication().String(), Descending: isRecent,
		Token: token, Limit: service.PageSize(request.GetPageSize(), 20, maxEntries),
	}
	reply := &blogv1.ListBlogsResponse{}
	if request.GetView() == typev1.View_VIEW_SUMMARY {
		query.Limit = service.PageSize(request.GetPageSize(), 100, service.MaxPage)
		var err error
		reply.Summaries, reply.NextPageToken, err = s.summaries.Page(ctx, query, func(b *summary) bool {
			return b.PostDay <= last && !hidden[b.AuthorID]
		})
		if err != nil {
			return nil, err
		}
	} else {
		page, err := s.blogs.Documents.Page(ctx, query)
		if err != nil {
			return nil, err
		}
		shown := slices.DeleteFunc(page.Documents, func(b blog) bool { return b.PostDay > last })
		reply.Blogs, reply.NextPageToken = s.showAll(ctx, s.blogs.Without(hidden, shown)), page.Next
	}
	if len(reply.GetSummaries())+len(reply.GetBlogs()) == 0 && author != 0 && token == "" {
		if err := s.blogs.RequireOwner(ctx, s.profiles, author, byAuthor().Is(author)); err != nil {
			return nil, err
		}
	}
	if isPublished && reply.NextPageToken != "" {
		reply.NextPageToken = recentToken(today, reply.NextPageToken)
	}
	return reply, nil
}

// listed selects the entries of a list; by creation, the ones planned for after the last day, too.
func listed(request *blogv1.ListBlogsRequest, last day) docstore.Where {
	author := request.GetAuthorId()
	var days docstore.Span
	if from := request.GetPostDateFrom(); from != nil {
		days.From = docstore.ValueOf(int64(dayFromProto(from)))
	}
	if last != lastDay {
		days.To = docstore.ValueOf(int64(last))
	}
	kind := request.GetType()
	switch {
	case request.GetOrder() == blogv1.BlogOrder_BLOG_ORDER_UNSPECIFIED:
		where := byAuthor().Is(author)
		if after := request.GetAfterBlogId(); after != 0 {
			where = where.FromID(after + 1)
		}
		return where
	case author != 0:
		return byAuthorPostDay().In(author, days)
	case kind != blogv1.BlogType_BLOG_TYPE_UNSPECIFIED:
		return byTypePostDay().In(int64(kind), days).Everywhere()
	}
	return byPostDay().In(days).Everywhere()
}

// BatchGetBlogs returns several entries.
func (s *server) BatchGetBlogs(ctx context.Context,
	request *blogv1.BatchGetBlogsRequest) (*blogv1.BatchGetBlogsResponse, error) {
	batch, err := s.blogs.Batch(ctx, request.GetBlogIds())
	if err != nil {
		return nil, err
	}
	return &blogv1.BatchGetBlogsResponse{
		Blogs: s.showAll(ctx, batch.Found), MissingBlogIds: batch.Missing, UnreadBlogIds: batch.Unread,
	}, nil
}

// showAll returns entries of any authors for a reply.
func (s *server) showAll(ctx context.Context, blogs []blog) []*blogv1.Blog {
	authors := s.profiles.Show(ctx, s.blogs.OwnersOf(blogs)...)
	shown := make([]*blogv1.Blog, len(blogs))
	for i := range blogs {
		shown[i] = blogProto(&blogs[i], authors.Of(blogs[i].AuthorID))
	}
	return shown
}

// summary is the part of an entry that VIEW_SUMMARY reads.
type summary struct {
	ID       int64  `bson:"_id"`
	AuthorID int64  `bson:"author_id"`
	Title    string `bson:"title"`
	PostDay  day    `bson:"post_day"`
}

func showSummary(b *summary) (id int64, title string) { return b.ID, b.Title }

// A page token begins with the day on which the walk began, because the bounds of its query do.
func recentToken(from day, token string) string {
	return strconv.FormatInt(int64(from), 10) + "." + token
}

// parseRecent reads a page token. It fails with docstore.ErrBadToken, also for a day after today.
// The empty token means a walk that begins today.
func parseRecent(text string, today day) (from day, token string, err error) {
	if text == "" {
		return today, "", nil
	}
	first, token, _ := strings.Cut(text, ".")
	number, err := strconv.ParseInt(first, 10, 64)
	if from = day(number); err != nil || token == "" || from > today || recentToken(from, token) != text {
		return 0, "", docstore.ErrBadToken
	}
	return from, token, nil
}

// located is the part of an entry that SearchNearby and lists in a box show. The texts of a page
// could be large.
type located struct {
	ID         int64   `bson:"_id"`
	AuthorID   int64   `bson:"author_id"`
	RequestKey string  `bson:"request_key"`
	Type       int32   `bson:"type"`
	Lat        float64 `bson:"lat"`
	Lng        float64 `bson:"lng"`
	Cell       int64   `bson:"cell"`
	Title      string  `bson:"title"`
	PostDay    day     `bson:"post_day"`
}

// SearchNearby returns a page of the entries in an area, nearest first.
func (s *server) SearchNearby(ctx context.Context,
	request *blogv1.SearchNearbyRequest) (*blogv1.SearchNearbyResponse, error) {
	query := nearby.Query{
		Filter: nearby.Filter{Category: int64(request.GetType())}, Hidden: s.blogs.Hidden.Users(ctx),
		Size: service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	}
	if request.GetPublication() == blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED {
		query.Until = int64(s.today())
	}
	page, err := s.onMap.Around(ctx, nearby.CircleOf(request.GetCircle()), query)
	if err != nil {
		return nil, err
	}
	authorIDs := make([]int64, len(page.Found))
	for i, f := range page.Found {
		authorIDs[i] = f.Document.AuthorID
	}
	authors := s.profiles.Show(ctx, authorIDs...)
	reply := &blogv1.SearchNearbyResponse{Blogs: make([]*blogv1.Blog, len(page.Found)), NextPageToken: page.Next,
		ReadCount: page.Read}
	for i, f := range page.Found {
		b := f.Document
		reply.Blogs[i] = &blogv1.Blog{
			BlogId: b.ID, Author: authors.Of(b.AuthorID).Proto(b.AuthorID), Type: blogv1.BlogType(b.Type),
			Title:    b.Title,
			Location: &typev1.Location{Lat: b.Lat, Lng: b.Lng}, PostDate: b.PostDay.proto(),
			OldId: aliases.OldID(b.ID, b.RequestKey), DistanceMeters: new(f.Distance),
		}
	}
	return reply, nil
}

// entry is an entry of a diary as onMap shows it.
type entry struct {
	ID      int64 `bson:"_id"`
	Cell    int64 `bson:"cell"`
	PostDay int64 `bson:"post_day"`
	Type    int64 `bson:"type"`
}

func keyOf(e *entry) nearby.Key {
	return nearby.Key{Cell: e.Cell, Day: e.PostDay, Category: e.Type, ID: e.ID}
}

func locationOf(b *located) nearby.Location {
	return nearby.Location{Key: nearby.Key{Cell: b.Cell, Day: int64(b.PostDay), Category: int64(b.Type), ID: b.ID},
		Lat: b.Lat, Lng: b.Lng, Owner: b.AuthorID}
}

// listInBox returns a page of the published entries in a box, in a stable order.
func (s *server) listInBox(ctx context.Context, request *blogv1.ListBlogsRequest) (*blogv1.ListBlogsResponse, error) {
	page, err := s.onMap.In(ctx, nearby.BoxOf(request.GetBox()), nearby.Query{
		Filter: nearby.Filter{Category: int64(request.GetType()), Until: int64(s.today())},
		Hidden: s.blogs.Hidden.Users(ctx),
		Size:   service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	reply := &blogv1.ListBlogsResponse{Summaries: make([]*typev1.Summary, len(page.Found)), NextPageToken: page.Next,
		ReadCount: page.Read}
	for i, b := range page.Documents() {
		reply.Summaries[i] = &typev1.Summary{
			Id: b.ID, Title: b.Title, Location: &typev1.Location{Lat: b.Lat, Lng: b.Lng}, Category: b.Type,
		}
	}
	return reply, nil
}
