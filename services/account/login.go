package account

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Authenticate opens a session for the user with the given email address and password. An unknown
// address, a user without a password and a disabled one take the same work as a wrong password.
func (s *server) Authenticate(ctx context.Context,
	request *accountv1.AuthenticateRequest) (*accountv1.AuthenticateResponse, error) {
	from := source{emailKey: emailKey(request.GetEmail()), client: request.GetClientAddress()}
	var found user
	var begun attempt
	err := s.users.Together(func() (err error) {
		begun, err = s.logins.begin(ctx, from)
		return err
	}, func() (err error) {
		found, err = s.users.Find(ctx, byEmail().Is(from.emailKey))
		if errors.Is(err, docstore.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// The generation of the reply comes from the same read as the hash that is checked.
	isRight, err := s.passwords.match(ctx, request.GetPassword(), found.PasswordHash)
	if err != nil {
		return nil, err
	}
	isRight = isRight && !found.IsDisabled
	if err := s.logins.judged(ctx, begun, isRight); err != nil {
		return nil, err
	}
	if !isRight {
		return nil, apierror.New(codes.Unauthenticated, "PASSWORD_INCORRECT",
			"the email address or the password is incorrect")
	}
	opened, token, err := s.newSession(ctx, found.ID, &found)
	if err != nil {
		return nil, err
	}
	s.renewHash(ctx, found, request.GetPassword())
	return &accountv1.AuthenticateResponse{User: userProto(found), Session: s.sessionProto(opened), Token: token}, nil
}

// ChangePassword changes the password of a user who knows the present one. The session that asks
// stays open, by the write that ends the others.
func (s *server) ChangePassword(ctx context.Context,
	request *accountv1.ChangePasswordRequest) (*accountv1.ChangePasswordResponse, error) {
	asking, checked, err := s.openSession(ctx, request.GetActorId(), request.GetToken())
	if err != nil {
		return nil, err
	}
	begun, err := s.logins.begin(ctx, source{emailKey: checked.EmailKey, client: request.GetClientAddress()})
	if err != nil {
		return nil, err
	}
	isRight, err := s.passwords.match(ctx, request.GetOldPassword(), checked.PasswordHash)
	if err != nil {
		return nil, err
	}
	if err := s.logins.judged(ctx, begun, isRight); err != nil {
		return nil, err
	}
	if !isRight {
		return nil, apierror.New(codes.Unauthenticated, "PASSWORD_INCORRECT", "the old password is incorrect")
	}
	passwordHash, err := s.passwords.hash(ctx, request.GetNewPassword())
	if err != nil {
		return nil, err
	}
	var before user
	changed, err := s.users.Update(ctx, checked.ID, func(u *user) error {
		if u.CredentialGeneration != checked.CredentialGeneration || !s.isOpen(asking, *u) {
			return loginRequired("the session ended or the password was changed meanwhile; log in again")
		}
		before = *u
		u.setPassword(passwordHash)
		u.endSessions(asking.ID)
		return nil
	})
	if err != nil {
		return nil, noUser(err, checked.ID)
	}
	return &accountv1.ChangePasswordResponse{ClosedCount: s.removeClosed(ctx, before, changed)}, nil
}

// errPasswordReplaced ends the renewal of a hash that is not the user's any more.
var errPasswordReplaced = errors.New("account: the password was replaced")

// renewHash hashes a correct password again if another program made the stored hash, or if it
// has other cost parameters than new ones. A password of which the stored hash saw only a part is
// not hashed: the rest is unproved. The user's generation stays. If it fails, the login
// succeeds all the same, and the next login tries again.
func (s *server) renewHash(ctx context.Context, u user, password string) {
	if hasPresentCost(u.PasswordHash) && !u.PasswordIsMoved || !hasSeenAll(u.PasswordHash, password) {
		return
	}
	renewed, err := s.passwords.hash(ctx, password)
	if err == nil {
		_, err = s.users.Update(ctx, u.ID, func(stored *user) error {
			if stored.PasswordHash != u.PasswordHash {
				return errPasswordReplaced
			}
			stored.setPassword(renewed)
			return nil
		})
	}
	if err != nil && !errors.Is(err, errPasswordReplaced) {
		s.log.WarnContext(ctx, "failed to renew the hash of a password", "error", err)
	}
}
