package account

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Authenticate opens a session for the user with the given email address and password. An unknown
// address, a user without a password and a disabled one take the same work as a wrong password.
func (s *Server) Authenticate(ctx context.Context, request *accountv1.AuthenticateRequest) (*accountv1.AuthenticateResponse, error) {
	from := source{emailKey: emailKey(request.GetEmail()), client: request.GetClientAddress()}
	found, device, err := s.knownDevice(ctx, from.emailKey, request.GetDeviceTokens())
	if err != nil {
		return nil, err
	}
	from.device = device.ID
	var counted []counter
	err = s.users.Together(func() (err error) {
		counted, err = s.logins.begin(ctx, from)
		return err
	}, func() (err error) {
		if device.ID == "" {
			found, err = s.users.Find(ctx, byEmail().Is(from.emailKey))
		}
		if errors.Is(err, docstore.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	// The generation of the reply comes from the same read as the hash that is checked.
	isRight, err := s.passwords.match(ctx, from.lane(), request.GetPassword(), found.PasswordHash)
	if err != nil {
		return nil, errors.Join(err, s.logins.takeBack(ctx, counted))
	}
	if !isRight || found.IsDisabled {
		return nil, apierror.New(codes.Unauthenticated, "PASSWORD_INCORRECT", "the email address or the password is incorrect")
	}
	var notRemembered error
	err = s.users.Together(func() error {
		return s.logins.succeeded(ctx, counted)
	}, func() error {
		device, notRemembered = s.devices.remember(ctx, found, device)
		return nil
	})
	if err != nil {
		return nil, err
	}
	opened, token, err := s.newSession(ctx, found.ID, &found.CredentialGeneration)
	if err != nil {
		return nil, err
	}
	s.renewHash(ctx, from.lane(), found, request.GetPassword())
	reply := &accountv1.AuthenticateResponse{User: userProto(found), Session: s.sessionProto(opened), Token: token}
	if notRemembered != nil {
		s.log.WarnContext(ctx, "failed to store the device of a login", "error", notRemembered)
		return reply, nil
	}
	reply.DeviceToken, reply.DeviceExpireTime = device.token, timestamppb.New(time.UnixMilli(device.ExpireMillis))
	return reply, nil
}

// knownDevice returns the device that a token names and its user, if the user has this email
// address and the device's generation; otherwise zero values. What it reads depends on the
// tokens only. So its time does not reveal whether a user has the address.
func (s *Server) knownDevice(ctx context.Context, emailKey string, tokens []string) (user, present, error) {
	if len(tokens) == 0 {
		return user{}, present{}, nil
	}
	ids, err := usersOf(tokens)
	if err != nil {
		return user{}, present{}, err
	}
	var named []present
	var owners []user
	err = s.users.Together(func() (err error) {
		named, err = s.devices.named(ctx, tokens, ids)
		return err
	}, func() (err error) {
		owners, err = s.users.GetMany(ctx, ids)
		return err
	})
	for _, each := range named {
		for _, owner := range owners {
			if owner.ID == each.userID && owner.EmailKey == emailKey && owner.CredentialGeneration == each.CredentialGeneration {
				return owner, each, err
			}
		}
	}
	return user{}, present{}, err
}

// lane returns the lane in which the attempt's password is hashed.
func (from source) lane() lane {
	if from.device != "" {
		return byKnown
	}
	return byAnybody
}

// errPasswordReplaced ends the renewal of a hash that is not the user's any more.
var errPasswordReplaced = errors.New("account: the password was replaced")

// renewHash hashes a correct password again if another program made the stored hash, or if it
// has other cost parameters than new ones. A password of which the stored hash saw only a part is
// not hashed: nobody has proved the rest. The user's generation stays. If it fails, the login
// succeeds all the same, and the next login tries again.
func (s *Server) renewHash(ctx context.Context, by lane, u user, password string) {
	if hasPresentCost(u.PasswordHash) && !u.PasswordIsMoved || !hasSeenAll(u.PasswordHash, password) {
		return
	}
	renewed, err := s.passwords.hash(ctx, by, password)
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
