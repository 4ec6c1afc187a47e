package blog

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// ListBlogs returns a page of the entries of one user or of all users.
func (s *Server) ListBlogs(ctx context.Context, request *blogv1.ListBlogsRequest) (*blogv1.ListBlogsResponse, error) {
	page, err := s.blogs.Documents.Page(ctx, listQuery(request))
	if err != nil {
		return nil, err
	}
	if len(page.Documents) == 0 && request.GetAuthorId() != 0 {
		if _, err := s.profiles.Require(ctx, request.GetAuthorId()); err != nil {
			return nil, err
		}
	}
	if request.GetPublication() == blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED {
		page = upTo(page, dayOf(s.now().In(s.zone)))
	}
	return &blogv1.ListBlogsResponse{Blogs: s.showAll(ctx, page.Documents), NextPageToken: page.Next}, nil
}

// BatchGetBlogs returns several entries.
func (s *Server) BatchGetBlogs(ctx context.Context, request *blogv1.BatchGetBlogsRequest) (*blogv1.BatchGetBlogsResponse, error) {
	batch, err := s.blogs.Batch(ctx, request.GetBlogIds())
	if err != nil {
		return nil, err
	}
	return &blogv1.BatchGetBlogsResponse{
		Blogs: s.showAll(ctx, batch.Found), MissingBlogIds: batch.Missing, UnreadBlogIds: batch.Unread,
	}, nil
}

// showAll returns entries of any authors for a reply.
func (s *Server) showAll(ctx context.Context, blogs []blog) []*blogv1.Blog {
	authors := s.profiles.Show(ctx, s.blogs.OwnersOf(blogs)...)
	shown := make([]*blogv1.Blog, len(blogs))
	for i, b := range blogs {
		shown[i] = blogProto(b, authors[b.AuthorID])
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
func (s *Server) StreamBlogs(request *blogv1.StreamBlogsRequest, stream grpc.ServerStreamingServer[blogv1.StreamBlogsResponse]) error {
	query := docstore.Query{
		Where: byAuthor().Is(request.GetAuthorId()).FromID(request.GetAfterBlogId() + 1),
		Limit: service.StreamBatch,
	}
	var isShown func(*summary) bool
	if request.GetPublication() == blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED {
		today := dayOf(s.now().In(s.zone))
		isShown = func(b *summary) bool { return b.PostDay <= today }
	}
	found, err := s.summaries.Send(stream.Context(), query, request.GetLimit(), isShown, func(batch []*blogv1.BlogSummary) error {
		return stream.Send(&blogv1.StreamBlogsResponse{Blogs: batch})
	})
	if err == nil && !found {
		_, err = s.profiles.Require(stream.Context(), request.GetAuthorId())
	}
	return err
}

// listQuery returns the query for a page of a list.
func listQuery(request *blogv1.ListBlogsRequest) docstore.Query {
	return docstore.Query{
		Where: listed(request), Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), 20),
	}
}

// listed selects the entries of a list.
func listed(request *blogv1.ListBlogsRequest) docstore.Where {
	author := request.GetAuthorId()
	if request.GetOrder() != blogv1.BlogOrder_BLOG_ORDER_POST_DATE {
		if author == 0 {
			return byAuthor().All().Everywhere()
		}
		return byAuthor().Is(author)
	}
	var days docstore.Range[int64]
	if from := request.GetPostDateFrom(); from != nil {
		days.From = new(int64(dayFromProto(from)))
	}
	if to := request.GetPostDateTo(); to != nil {
		days.To = new(int64(dayFromProto(to)))
	}
	if author == 0 {
		return byPostDay().In(days).Everywhere()
	}
	return byAuthorPostDay().In(author, days)
}

// upTo ends a list by planned date after the day last. That day cannot be a bound of the
// query, because page tokens are tied to the bounds. After midnight, the tokens from before
// would be rejected.
func upTo(page docstore.Page[blog], last day) docstore.Page[blog] {
	isLater := func(b blog) bool { return b.PostDay > last }
	if i := slices.IndexFunc(page.Documents, isLater); i >= 0 {
		return docstore.Page[blog]{Documents: page.Documents[:i]}
	}
	return page
}
