package account

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// DeleteUser deletes a user. It deletes the user last, so a repeated call finishes what an
// earlier one began. Sessions that are left after a crash belong to nobody, so they are not open.
func (s *Server) DeleteUser(ctx context.Context, request *accountv1.DeleteUserRequest) (*accountv1.DeleteUserResponse, error) {
	u, err := s.users.Get(ctx, request.GetUserId())
	isGone := errors.Is(err, docstore.ErrNotFound)
	if err != nil && !isGone {
		return nil, err
	}
	if !isGone && !u.IsDisabled {
		return nil, apierror.New(codes.FailedPrecondition, "USER_NOT_DISABLED", "user %d is not disabled; disable the user first", u.ID)
	}
	if err := s.deleteBelongings(ctx, request.GetUserId()); err != nil {
		return nil, err
	}
	err = s.users.Delete(ctx, request.GetUserId())
	if errors.Is(err, docstore.ErrNotFound) {
		// An earlier call may have deleted the user and failed: make that durable.
		_, err = s.users.GetLinearizable(ctx, request.GetUserId())
	}
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return nil, err
	}
	return &accountv1.DeleteUserResponse{}, nil
}

// deleteBelongings deletes the sessions, devices and rewards of a user. The records of the
// user's days expire by themselves.
func (s *Server) deleteBelongings(ctx context.Context, userID int64) error {
	if _, err := s.sessions.DeleteAll(ctx, byUser().Is(userID).Everywhere()); err != nil {
		return err
	}
	if err := s.devices.stored.Delete(ctx, userID); err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	_, err := s.rewards.DeleteAll(ctx, byUser().Is(userID).Everywhere())
	return err
}
