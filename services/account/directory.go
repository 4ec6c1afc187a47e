package account

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// defaultUserPage is the size of a page of users whose request does not say one.
const defaultUserPage = 100

// ListUsers returns a page of all users, or of those whose address or nickname begins with a text.
func (s *server) ListUsers(ctx context.Context, request *accountv1.ListUsersRequest) (*accountv1.ListUsersResponse, error) {
	where := docstore.All(docstore.IDIndex)
	if prefix := request.GetNamePrefix(); prefix != "" {
		where = byName().In(beginningWith(nameKey(prefix)))
	}
	if prefix := request.GetEmailPrefix(); prefix != "" {
		where = byEmail().In(beginningWith(emailKey(prefix)))
	}
	page, err := s.users.Page(ctx, docstore.Query{
		Where: where, Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), defaultUserPage, service.MaxPage),
	})
	if err != nil {
		return nil, err
	}
	if request.GetEmailPrefix() != "" {
		// "#" begins the keys of users without an address.
		page.Documents = slices.DeleteFunc(page.Documents, func(u user) bool { return u.Email == "" })
	}
	return &accountv1.ListUsersResponse{Users: userProtos(page.Documents), NextPageToken: page.Next}, nil
}

// beginningWith is the range of the texts that begin with a prefix. U+10FFFF, the highest
// character, is in no text that people write.
func beginningWith(prefix string) docstore.Span {
	return docstore.Between(prefix, prefix+"\U0010FFFF")
}

func userProtos(users []user) []*accountv1.User {
	all := make([]*accountv1.User, len(users))
	for i, u := range users {
		all[i] = userProto(u)
	}
	return all
}

// ListUserChanges returns what has changed since a token.
func (s *server) ListUserChanges(ctx context.Context, request *accountv1.ListUserChangesRequest) (*accountv1.ListUserChangesResponse, error) {
	page, err := s.changes.List(ctx, request, request.GetIncludeUser())
	return &accountv1.ListUserChangesResponse{Changes: page.Changes, NextPageToken: page.Next, HasMore: page.HasMore}, err
}

// WatchUserChanges sends what changes.
func (s *server) WatchUserChanges(request *accountv1.WatchUserChangesRequest, stream grpc.ServerStreamingServer[accountv1.WatchUserChangesResponse]) error {
	return s.changes.Watch(stream.Context(), request.GetPageToken(), request.GetIncludeUser(), func(batch []*accountv1.UserChange, next string) error {
		return stream.Send(&accountv1.WatchUserChangesResponse{Changes: batch, NextPageToken: next})
	})
}

// End ends the streams of changes.
func (s *server) End() { s.changes.End() }

// showChanges converts changes to messages.
func (s *server) showChanges(_ context.Context, found []docstore.FeedChange[int64, user]) []*accountv1.UserChange {
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
