package poi

import (
	"context"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/docstore"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// ListPoiChanges returns what has changed since a token.
func (s *Server) ListPoiChanges(ctx context.Context, request *poiv1.ListPoiChangesRequest) (*poiv1.ListPoiChangesResponse, error) {
	page, err := s.changes.List(ctx, request.GetPageToken(), request.GetPageSize(), request.GetIncludePoi())
	if err != nil {
		return nil, err
	}
	return &poiv1.ListPoiChangesResponse{Changes: page.Changes, NextPageToken: page.Next, HasMore: page.HasMore}, nil
}

// WatchPoiChanges sends what changes.
func (s *Server) WatchPoiChanges(request *poiv1.WatchPoiChangesRequest, stream grpc.ServerStreamingServer[poiv1.WatchPoiChangesResponse]) error {
	return s.changes.Watch(stream.Context(), request.GetPageToken(), request.GetIncludePoi(), func(batch []*poiv1.PoiChange, next string) error {
		return stream.Send(&poiv1.WatchPoiChangesResponse{Changes: batch, NextPageToken: next})
	})
}

// End ends the streams of changes.
func (s *Server) End() { s.changes.End() }

// showChanges converts changes to messages.
func (s *Server) showChanges(ctx context.Context, found []docstore.FeedChange[int64, poi]) []*poiv1.PoiChange {
	owners := s.profiles.Show(ctx, changes.Owners(found, func(p *poi) int64 { return p.OwnerID })...)
	shown := make([]*poiv1.PoiChange, len(found))
	for i, each := range found {
		head := changes.HeadOf(each)
		shown[i] = &poiv1.PoiChange{
			PoiId: each.ID, Kind: head.Kind, ChangeTime: head.Time, Revision: each.Revision, Parts: head.Parts,
		}
		if each.Document != nil {
			shown[i].Poi = poiProto(*each.Document, owners[each.Document.OwnerID])
		}
	}
	return shown
}
