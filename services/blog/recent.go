package blog

import (
	"context"
	"strconv"
	"strings"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// ListRecentBlogs returns a page of all users' published entries, the latest first.
func (s *Server) ListRecentBlogs(ctx context.Context, request *blogv1.ListRecentBlogsRequest) (*blogv1.ListRecentBlogsResponse, error) {
	from, token, err := parseRecent(request.GetPageToken(), dayOf(s.now().In(s.zone)))
	if err != nil {
		return nil, err
	}
	published := docstore.UpTo(int64(from))
	where := byPostDay().In(published)
	if kind := request.GetType(); kind != blogv1.BlogType_BLOG_TYPE_UNSPECIFIED {
		where = byTypePostDay().In(int64(kind), published)
	}
	page, err := s.blogs.Documents.Page(ctx, docstore.Query{
		Where: where.Everywhere(), Descending: true, Token: token, Limit: service.PageSize(request.GetPageSize(), 20),
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
