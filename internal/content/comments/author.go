package comments

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/parent"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
)

const (
	// maxRemoved is how many comments a call removes, so that it ends in time.
	maxRemoved = 200
	// removedAtOnce is how many of them it removes at a time.
	removedAtOnce = 16
)

// ListCommentsByAuthor returns a page of an author's comments.
func (s *Set[P]) ListCommentsByAuthor(
	ctx context.Context, request *commentv1.ListCommentsByAuthorRequest,
) (*commentv1.ListCommentsByAuthorResponse, error) {
	page, err := s.Children.Page(ctx, docstore.Query{
		Where: byAuthor().Is(request.GetAuthorId()).Everywhere(), Token: request.GetPageToken(),
		Limit: service.PageSize(request.GetPageSize(), FirstPage, service.MaxPage),
	})
	if err != nil {
		return nil, err
	}
	reply := &commentv1.ListCommentsByAuthorResponse{NextPageToken: page.Next}
	for i, shown := range s.showAll(ctx, page.Documents) {
		shown.ParentId, shown.ParentKind = new(page.Documents[i].ParentID), request.GetKind().Enum()
		reply.Comments = append(reply.Comments, shown)
	}
	return reply, nil
}

// RemoveCommentsByAuthor removes an author's comments under one document, as its owner may, or
// under all.
func (s *Set[P]) RemoveCommentsByAuthor(
	ctx context.Context, request *commentv1.RemoveCommentsByAuthorRequest,
) (*commentv1.RemoveCommentsByAuthorResponse, error) {
	where := byAuthor().Is(request.GetAuthorId()).Everywhere()
	if _, parentID := parent.Of(request); parentID != 0 {
		if _, err := s.Parents.GetBy(ctx, request.GetActorId(), parentID); err != nil {
			return nil, err
		}
		where = byRequest().Second(parentID, request.GetAuthorId())
	}
	page, err := s.Children.Page(ctx, docstore.Query{Where: where, Limit: maxRemoved})
	if err != nil {
		return nil, err
	}
	var removed atomic.Int32
	removing, within := errgroup.WithContext(ctx)
	removing.SetLimit(removedAtOnce)
	for _, each := range page.Documents {
		removing.Go(func() error {
			isRemoved, err := s.removeAny(within, each)
			if isRemoved {
				removed.Add(1)
			}
			return err
		})
	}
	if err := removing.Wait(); err != nil {
		return nil, err
	}
	return &commentv1.RemoveCommentsByAuthorResponse{RemovedCount: removed.Load(), HasMore: page.Next != ""}, nil
}

// removeAny removes a comment of any author, and reports whether it did. The document that it
// belongs to may be gone, or another call may remove it.
func (s *Set[P]) removeAny(ctx context.Context, comment Comment) (isRemoved bool, err error) {
	err = s.RemoveForced(ctx, comment.ParentID, comment.ID)
	if failed := apierror.From(err); failed == nil || failed.Kind != codes.NotFound {
		return err == nil, err
	}
	err = s.Children.Delete(ctx, comment.ID)
	if errors.Is(err, docstore.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
