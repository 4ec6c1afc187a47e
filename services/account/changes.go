package account

import (
	"context"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/docstore"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// ListUserChanges returns what has changed since a token.
func (s *Server) ListUserChanges(ctx context.Context, request *accountv1.ListUserChangesRequest) (*accountv1.ListUserChangesResponse, error) {
	page, err := s.changes.List(ctx, request.GetPageToken(), request.GetPageSize(), request.GetIncludeUser())
	if err != nil {
		return nil, err
	}
	return &accountv1.ListUserChangesResponse{Changes: page.Changes, NextPageToken: page.Next, HasMore: page.HasMore}, nil
}

// WatchUserChanges sends what changes.
func (s *Server) WatchUserChanges(request *accountv1.WatchUserChangesRequest, stream grpc.ServerStreamingServer[accountv1.WatchUserChangesResponse]) error {
	return s.changes.Watch(stream.Context(), request.GetPageToken(), request.GetIncludeUser(), func(batch []*accountv1.UserChange, next string) error {
		return stream.Send(&accountv1.WatchUserChangesResponse{Changes: batch, NextPageToken: next})
	})
}

// End ends the streams of changes.
func (s *Server) End() { s.changes.End() }

// showChanges converts changes to messages.
func (s *Server) showChanges(_ context.Context, found []docstore.FeedChange[int64, user]) []*accountv1.UserChange {
	shown := make([]*accountv1.UserChange, len(found))
	for i, each := range found {
		head := changes.HeadOf(each)
		shown[i] = &accountv1.UserChange{
			UserId: each.ID, Kind: head.Kind, ChangeTime: head.Time, Revision: each.Revision, Parts: head.Parts,
		}
		if each.Document != nil {
			shown[i].User = userProto(*each.Document)
		}
	}
	return shown
}
