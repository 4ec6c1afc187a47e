package account

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Authenticate returns the user with the given email address and password. An unknown
// address and a user without a password take the same work as a wrong password.
func (s *Server) Authenticate(ctx context.Context, request *accountv1.AuthenticateRequest) (*accountv1.AuthenticateResponse, error) {
	key := emailKey(request.GetEmail())
	counted, err := s.logins.begin(ctx, key, request.GetClientAddress())
	if err != nil {
		return nil, err
	}
	found, err := s.users.Find(ctx, byEmail().Is(key))
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return nil, err
	}
	isRight, err := s.passwords.match(ctx, request.GetPassword(), found.PasswordHash)
	if err != nil {
		return nil, err
	}
	if !isRight {
		return nil, apierror.New(codes.Unauthenticated, "PASSWORD_INCORRECT", "the email address or the password is incorrect")
	}
	if err := s.logins.succeeded(ctx, counted); err != nil {
		return nil, err
	}
	return &accountv1.AuthenticateResponse{User: userProto(found)}, nil
}
