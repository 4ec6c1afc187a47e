// Package changes lists the changes of a service's documents to followers.
package changes

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/content/nearby"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	changev1 "github.com/waybook/waybook/proto/gen/waybook/change/v1"
)

// Of declares the feed of a kind of content. unseen are the fields that followers do not see.
func Of(settings service.Changes, unseen ...string) *docstore.Feed {
	return &docstore.Feed{NotStamped: append(unseen, nearby.CellField), Settling: settings.Settling}
}

// pageSize is the default number of changes in a page.
const pageSize = 100

// server implements ChangeService for documents of type T. It may be used concurrently.
type server[T any] struct {
	changev1.UnimplementedChangeServiceServer
	documents *docstore.Collection[int64, T]
}

// New returns a server of the changes of a collection.
func New[T any](documents *docstore.Collection[int64, T]) changev1.ChangeServiceServer {
	return &server[T]{documents: documents}
}

// ListChanges returns a page of changes.
func (s *server[T]) ListChanges(ctx context.Context,
	request *changev1.ListChangesRequest) (*changev1.ListChangesResponse, error) {
	query := docstore.ChangesQuery{Token: request.GetPageToken(),
		Limit: service.PageSize(request.GetPageSize(), pageSize, service.MaxPage)}
	if start := request.GetStartTime(); start != nil {
		query.Start = start.AsTime()
	}
	page, err := s.documents.Changes(ctx, query)
	if err != nil {
		return nil, err
	}
	reply := &changev1.ListChangesResponse{
		Changes: make([]*changev1.Change, len(page.Changes)), NextPageToken: page.Next, HasMore: page.More,
	}
	for i, each := range page.Changes {
		reply.Changes[i] = &changev1.Change{Id: each.ID, Type: typeOf(each.Type),
			ChangeTime: timestamppb.New(each.Time)}
	}
	return reply, nil
}

func typeOf(is docstore.ChangeType) changev1.Change_Type {
	switch is {
	case docstore.DocumentCreated:
		return changev1.Change_TYPE_CREATED
	case docstore.DocumentDeleted:
		return changev1.Change_TYPE_DELETED
	}
	return changev1.Change_TYPE_CHANGED
}
