package account

import (
	"context"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// defaultUserPage is the size of a page of users whose request does not say one.
const defaultUserPage = 100

// ListUsers returns a page of all users, or of those whose address or nickname begins with a text.
func (s *server) ListUsers(ctx context.Context,
	request *accountv1.ListUsersRequest) (*accountv1.ListUsersResponse, error) {
	where := docstore.All(docstore.IDIndex)
	if prefix := request.GetNamePrefix(); prefix != "" {
		where = byName().In(beginningWith(nameKey(prefix)))
	}
	if prefix := request.GetEmailPrefix(); prefix != "" {
		where = byEmail().In(beginningWith(emailKey(prefix)))
	}
	page, err := s.users.Page(ctx, docstore.Query{
		Where: where, Token: request.GetPageToken(),
		Limit: service.PageSize(request.GetPageSize(), defaultUserPage, service.MaxPage),
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

// ListHiddenUsers returns a page of the hidden users.
func (s *server) ListHiddenUsers(
	ctx context.Context, request *accountv1.ListHiddenUsersRequest,
) (*accountv1.ListHiddenUsersResponse, error) {
	page, err := s.users.Page(ctx, docstore.Query{
		Where: byHidden().Is(isHidden), Token: request.GetPageToken(),
		Limit: service.PageSize(request.GetPageSize(), service.MaxPage, service.MaxPage),
	})
	if err != nil {
		return nil, err
	}
	reply := &accountv1.ListHiddenUsersResponse{UserIds: make([]int64, len(page.Documents)), NextPageToken: page.Next}
	for i := range page.Documents {
		reply.UserIds[i] = page.Documents[i].ID
	}
	return reply, nil
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
