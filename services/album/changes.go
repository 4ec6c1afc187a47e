package album

import (
	"context"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/docstore"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// ListAlbumChanges returns what has changed since a token.
func (s *Server) ListAlbumChanges(ctx context.Context, request *albumv1.ListAlbumChangesRequest) (*albumv1.ListAlbumChangesResponse, error) {
	page, err := s.changes.List(ctx, request.GetPageToken(), request.GetPageSize(), request.GetIncludeAlbum())
	if err != nil {
		return nil, err
	}
	return &albumv1.ListAlbumChangesResponse{Changes: page.Changes, NextPageToken: page.Next, HasMore: page.HasMore}, nil
}

// WatchAlbumChanges sends what changes.
func (s *Server) WatchAlbumChanges(request *albumv1.WatchAlbumChangesRequest, stream grpc.ServerStreamingServer[albumv1.WatchAlbumChangesResponse]) error {
	return s.changes.Watch(stream.Context(), request.GetPageToken(), request.GetIncludeAlbum(), func(batch []*albumv1.AlbumChange, next string) error {
		return stream.Send(&albumv1.WatchAlbumChangesResponse{Changes: batch, NextPageToken: next})
	})
}

// End ends the streams of changes.
func (s *Server) End() { s.changes.End() }

// showChanges converts changes to messages.
func (s *Server) showChanges(ctx context.Context, found []docstore.FeedChange[int64, album]) []*albumv1.AlbumChange {
	owners := s.profiles.Show(ctx, changes.Owners(found, func(a *album) int64 { return a.OwnerID })...)
	shown := make([]*albumv1.AlbumChange, len(found))
	for i, each := range found {
		head := changes.HeadOf(each)
		shown[i] = &albumv1.AlbumChange{
			AlbumId: each.ID, Kind: head.Kind, ChangeTime: head.Time, Revision: each.Revision, Parts: head.Parts,
		}
		if each.Document != nil {
			shown[i].Album = albumProto(*each.Document, owners[each.Document.OwnerID])
		}
	}
	return shown
}
