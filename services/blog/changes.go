package blog

import (
	"context"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/docstore"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

// ListBlogChanges returns what has changed since a token.
func (s *Server) ListBlogChanges(ctx context.Context, request *blogv1.ListBlogChangesRequest) (*blogv1.ListBlogChangesResponse, error) {
	page, err := s.changes.List(ctx, request.GetPageToken(), request.GetPageSize(), request.GetIncludeBlog())
	if err != nil {
		return nil, err
	}
	return &blogv1.ListBlogChangesResponse{Changes: page.Changes, NextPageToken: page.Next, HasMore: page.HasMore}, nil
}

// WatchBlogChanges sends what changes.
func (s *Server) WatchBlogChanges(request *blogv1.WatchBlogChangesRequest, stream grpc.ServerStreamingServer[blogv1.WatchBlogChangesResponse]) error {
	return s.changes.Watch(stream.Context(), request.GetPageToken(), request.GetIncludeBlog(), func(batch []*blogv1.BlogChange, next string) error {
		return stream.Send(&blogv1.WatchBlogChangesResponse{Changes: batch, NextPageToken: next})
	})
}

// End ends the streams of changes.
func (s *Server) End() { s.changes.End() }

// showChanges converts changes to messages.
func (s *Server) showChanges(ctx context.Context, found []docstore.FeedChange[int64, blog]) []*blogv1.BlogChange {
	owners := s.profiles.Show(ctx, changes.Owners(found, func(b *blog) int64 { return b.AuthorID })...)
	shown := make([]*blogv1.BlogChange, len(found))
	for i, each := range found {
		head := changes.HeadOf(each)
		shown[i] = &blogv1.BlogChange{
			BlogId: each.ID, Kind: head.Kind, ChangeTime: head.Time, Revision: each.Revision, Parts: head.Parts,
		}
		if each.Document != nil {
			shown[i].Blog = blogProto(*each.Document, owners[each.Document.AuthorID])
		}
	}
	return shown
}
