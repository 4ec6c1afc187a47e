package blog

import (
	"context"
	"strconv"
	"strings"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// maxEntries is how many entries a page has at most.
const maxEntries = 100

// today is the last day whose entries are published, in the zone of the service.
func (s *server) today() day { return dayOf(s.now().In(s.zone)) }

// ListBlogs returns a page of the entries of one user or of all users.
func (s *server) ListBlogs(ctx context.Context, request *blogv1.ListBlogsRequest) (*blogv1.ListBlogsResponse, error) {
	token, last := request.GetPageToken(), dayFromProto(request.GetPostDateTo())
	isPublished := request.GetPublication() == blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED
	var today day // when the walk began
	if isPublished {
		var err error
		if today, token, err = parseRecent(token, s.today()); err != nil {
			return nil, err
		}
		if last == 0 || last > today {
			last = today
		}
	}
	page, err := s.blogs.Documents.Page(ctx, docstore.Query{
		Where: listed(request, last), Of: request.GetPublication().String(), Token: token, Limit: service.PageSize(request.GetPageSize(), 20, maxEntries),
	})
	if err != nil {
		return nil, err
	}
	if author := request.GetAuthorId(); len(page.Documents) == 0 && author != 0 {
		if err := s.blogs.RequireOwner(ctx, s.profiles, author, byAuthor().Is(author)); err != nil {
			return nil, err
		}
	}
	reply := &blogv1.ListBlogsResponse{Blogs: s.showAll(ctx, page.Documents), NextPageToken: page.Next}
	if isPublished && page.Next != "" {
		reply.NextPageToken = recentToken(today, page.Next)
	}
	return reply, nil
}

// BatchGetBlogs returns several entries.
func (s *server) BatchGetBlogs(ctx context.Context, request *blogv1.BatchGetBlogsRequest) (*blogv1.BatchGetBlogsResponse, error) {
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
	for i, b := range blogs {
		shown[i] = blogProto(b, authors.Of(b.AuthorID))
	}
	return shown
}

// summary is the part of an entry that a long list reads.
type summary struct {
	ID      int64  `bson:"_id"`
	Title   string `bson:"title"`
	PostDay day    `bson:"post_day"`
}

func showSummary(message *blogv1.BlogSummary, b *summary) {
	message.BlogId, message.Title = b.ID, b.Title
}

func idOfSummary(b *summary) int64 { return b.ID }

func tellOldID(message *blogv1.BlogSummary, oldID string) { message.OldId = oldID }

// StreamBlogs sends the entries of a user.
func (s *server) StreamBlogs(request *blogv1.StreamBlogsRequest, stream grpc.ServerStreamingServer[blogv1.StreamBlogsResponse]) error {
	query := docstore.Query{
		Where: byAuthor().Is(request.GetAuthorId()).FromID(request.GetAfterBlogId() + 1),
		Limit: service.StreamBatch,
	}
	var isShown func(*summary) bool
	if request.GetPublication() == blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED {
		today := s.today()
		isShown = func(b *summary) bool { return b.PostDay <= today }
	}
	found, err := s.summaries.Send(stream.Context(), query, request.GetLimit(), isShown, func(batch []*blogv1.BlogSummary) error {
		return stream.Send(&blogv1.StreamBlogsResponse{Blogs: batch})
	})
	if err == nil && !found {
		err = s.blogs.RequireOwner(stream.Context(), s.profiles, request.GetAuthorId(), byAuthor().Is(request.GetAuthorId()))
	}
	return err
}

// listed selects the entries of a list. last is the last planned day, or 0.
func listed(request *blogv1.ListBlogsRequest, last day) docstore.Where {
	author := request.GetAuthorId()
	if request.GetOrder() != blogv1.BlogOrder_BLOG_ORDER_POST_DATE {
		if author == 0 {
			return byAuthor().All().Everywhere()
		}
		return byAuthor().Is(author)
	}
	var days docstore.Span
	if from := request.GetPostDateFrom(); from != nil {
		days.From = docstore.ValueOf(int64(dayFromProto(from)))
	}
	if last != 0 {
		days.To = docstore.ValueOf(int64(last))
	}
	if author == 0 {
		return byPostDay().In(days).Everywhere()
	}
	return byAuthorPostDay().In(author, days)
}

// ListRecentBlogs returns a page of all users' published entries, the latest first.
func (s *server) ListRecentBlogs(ctx context.Context, request *blogv1.ListRecentBlogsRequest) (*blogv1.ListRecentBlogsResponse, error) {
	from, token, err := parseRecent(request.GetPageToken(), s.today())
	if err != nil {
		return nil, err
	}
	published := docstore.UpTo(int64(from))
	where := byPostDay().In(published)
	if kind := request.GetType(); kind != blogv1.BlogType_BLOG_TYPE_UNSPECIFIED {
		where = byTypePostDay().In(int64(kind), published)
	}
	page, err := s.blogs.Documents.Page(ctx, docstore.Query{
		Where: where.Everywhere(), Descending: true, Token: token, Limit: service.PageSize(request.GetPageSize(), 20, maxEntries),
	})
	if err != nil {
		return nil, err
	}
	reply := &blogv1.ListRecentBlogsResponse{Blogs: s.showAll(ctx, page.Documents)}
	if page.Next != "" {
		reply.NextPageToken = recentToken(from, page.Next)
	}
	return reply, nil
}

// A page token begins with the day on which the walk began, because the bounds of its query do.
func recentToken(from day, token string) string {
	return strconv.FormatInt(int64(from), 10) + "." + token
}

// parseRecent reads a page token. It fails with docstore.ErrBadToken, also for a day after today. The
// empty token means a walk that begins today.
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

// located is the part of an entry that SearchNearby and ListBlogsInBox show. The texts of a page could be large.
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
func (s *server) SearchNearby(ctx context.Context, request *blogv1.SearchNearbyRequest) (*blogv1.SearchNearbyResponse, error) {
	query := nearby.Query[located]{
		Area: nearby.AreaOf(request), Category: int64(request.GetType()),
		Size: service.PageSize(request.GetPageSize(), 100, service.MaxPage), Token: request.GetPageToken(),
	}
	if request.GetPublication() == blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED {
		query.Filter = s.published()
	}
	found, next, err := s.nearby.Search(ctx, query)
	if err != nil {
		return nil, err
	}
	authorIDs := make([]int64, len(found))
	for i, f := range found {
		authorIDs[i] = f.Document.AuthorID
	}
	authors := s.profiles.Show(ctx, authorIDs...)
	reply := &blogv1.SearchNearbyResponse{Blogs: make([]*blogv1.FoundBlog, len(found)), NextPageToken: next}
	for i, f := range found {
		b := f.Document
		reply.Blogs[i] = &blogv1.FoundBlog{
			BlogId: b.ID, Author: authors.Of(b.AuthorID).Proto(b.AuthorID), Type: blogv1.BlogType(b.Type), Title: b.Title,
			Location: &typev1.Location{Lat: b.Lat, Lng: b.Lng}, PostDate: b.PostDay.proto(),
			OldId: aliases.OldID(b.ID, b.RequestKey), DistanceMeters: f.Distance,
		}
	}
	return reply, nil
}

// published leaves out the entries that are planned for after today. Today is not part of page tokens, so a walk
// continues past midnight.
func (s *server) published() nearby.Filter[located] {
	today := s.today()
	return nearby.Filter[located]{IsShown: func(b *located) bool { return b.PostDay <= today }, Of: "published"}
}

func locationOf(b *located) nearby.Location {
	return nearby.Location{ID: b.ID, Category: int64(b.Type), Lat: b.Lat, Lng: b.Lng}
}

func locationOfLocated(b *located) (location nearby.Location, cell int64) {
	return locationOf(b), b.Cell
}

// ListBlogsInBox returns a page of the published entries in a box, in the order of their cells.
func (s *server) ListBlogsInBox(ctx context.Context, request *blogv1.ListBlogsInBoxRequest) (*blogv1.ListBlogsInBoxResponse, error) {
	found, next, err := s.boxes.Search(ctx, nearby.BoxQuery[located]{
		Box: nearby.BoxOf(request.GetBounds()), Category: int64(request.GetType()), Filter: s.published(),
		Size: service.PageSize(request.GetPageSize(), 1000, service.MaxPage), Token: request.GetPageToken(),
	})
	if err != nil {
		return nil, err
	}
	reply := &blogv1.ListBlogsInBoxResponse{Blogs: make([]*blogv1.LocatedBlog, len(found)), NextPageToken: next}
	for i, b := range found {
		reply.Blogs[i] = &blogv1.LocatedBlog{
			BlogId: b.ID, Title: b.Title, Type: blogv1.BlogType(b.Type), Location: &typev1.Location{Lat: b.Lat, Lng: b.Lng},
		}
	}
	return reply, nil
}
