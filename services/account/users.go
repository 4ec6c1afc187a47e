package account

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/fault"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// CreateUser creates a user.
func (s *Server) CreateUser(ctx context.Context, request *accountv1.CreateUserRequest) (*accountv1.CreateUserResponse, error) {
	created, _, err := docstore.Create(ctx, s.users, s.draw, docstore.Request{ID: request.GetRequestId()},
		func(id int64, requestKey string) user {
			return user{
				ID: id, RequestKey: requestKey, Name: request.GetName(), IconURL: request.GetIconUrl(), CreateTime: s.now(),
			}
		})
	if err != nil {
		return nil, err
	}
	return &accountv1.CreateUserResponse{User: userProto(created)}, nil
}

// GetUser returns a user.
func (s *Server) GetUser(ctx context.Context, request *accountv1.GetUserRequest) (*accountv1.GetUserResponse, error) {
	found, err := s.users.Get(ctx, request.GetUserId())
	if err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	return &accountv1.GetUserResponse{User: userProto(found)}, nil
}

// BatchGetUsers returns those users that exist.
func (s *Server) BatchGetUsers(ctx context.Context, request *accountv1.BatchGetUsersRequest) (*accountv1.BatchGetUsersResponse, error) {
	found, err := s.users.GetMany(ctx, request.GetUserIds())
	if err != nil {
		return nil, err
	}
	reply := &accountv1.BatchGetUsersResponse{Users: make([]*accountv1.User, len(found))}
	for i, u := range found {
		reply.Users[i] = userProto(u)
	}
	return reply, nil
}

// UpdateUser changes a user.
func (s *Server) UpdateUser(ctx context.Context, request *accountv1.UpdateUserRequest) (*accountv1.UpdateUserResponse, error) {
	updated, err := s.users.Update(ctx, request.GetUserId(), func(u *user) error {
		if request.Name != nil {
			u.Name = request.GetName()
		}
		if request.IconUrl != nil {
			u.IconURL = request.GetIconUrl()
		}
		return nil
	})
	if err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	return &accountv1.UpdateUserResponse{User: userProto(updated)}, nil
}

// HasUsers tells whether there is any user. It is for standalone, which fills an
// empty store with demo content.
func (s *Server) HasUsers(ctx context.Context) (bool, error) {
	page, err := s.users.Page(ctx, docstore.Query{Index: docstore.IDIndex, Limit: 1})
	return len(page.Documents) > 0, err
}

func noUser(err error, id int64) error {
	if errors.Is(err, docstore.ErrNotFound) {
		return fault.NotFound("USER_NOT_FOUND", "there is no user %d", id)
	}
	return err
}

func userProto(u user) *accountv1.User {
	return &accountv1.User{
		UserId: u.ID, Name: u.Name, IconUrl: u.IconURL, CreateTime: timestamppb.New(u.CreateTime),
	}
}
