package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (s *server) CreateUser(ctx context.Context,
	request *accountv1.CreateUserRequest) (*accountv1.CreateUserResponse, error) {
	passwordHash, err := s.passwords.hash(ctx, request.GetPassword())
	if err != nil {
		return nil, err
	}
	created, _, err := docstore.Create(ctx, s.users, s.drawUser(ctx), createdBy(request),
		func(id int64, requestKey string) user {
			u := user{ID: id, RequestKey: requestKey, IconURL: request.GetIconUrl(), CreateTime: s.now(),
				PasswordHash: passwordHash}
			u.setName(request.GetName())
			u.setEmail(request.GetEmail())
			return u
		})
	if err != nil {
		return nil, emailTaken(err)
	}
	return &accountv1.CreateUserResponse{User: userProto(created)}, nil
}

// createdBy leaves the password out of the digest: a reply must not reveal whether a repeat has
// the same one, and a digest would be a fast hash of it.
func createdBy(request *accountv1.CreateUserRequest) docstore.Request {
	shown := proto.CloneOf(request)
	shown.Password = ""
	return docstore.Request{ID: request.GetRequestId(), Digest: service.Digest(shown)}
}

// drawUser returns a Draw in any place, which will be the place of what the user owns.
func (s *server) drawUser(ctx context.Context) docstore.Draw {
	return func(after int64, taken int) (int64, error) {
		if s.small != nil {
			return s.small.Next(ctx, 1)
		}
		return s.ids.Next(id.AnyPlace(), after, taken)
	}
}

// openSmall opens the counter of the users, whose identifiers are its numbers themselves.
func openSmall(ctx context.Context, deps service.Deps,
	users *docstore.Collection[int64, user]) (*smallids.Counter, error) {
	return deps.Small.Counter(ctx, deps.Store, "account", usersSpec(deps.Changes).Name,
		func(ctx context.Context, number int64) (bool, error) {
			return smallids.HasFrom(ctx, users, number)
		})
}

func (s *server) GetUser(ctx context.Context, request *accountv1.GetUserRequest) (*accountv1.GetUserResponse, error) {
	found, err := s.users.Get(ctx, request.GetUserId(), docstore.Listed)
	if err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	return &accountv1.GetUserResponse{User: userProto(found)}, nil
}

// BatchGetUsers returns the public profiles of the users that exist.
func (s *server) BatchGetUsers(ctx context.Context,
	request *accountv1.BatchGetUsersRequest) (*accountv1.BatchGetUsersResponse, error) {
	found, err := s.users.GetMany(ctx, request.GetUserIds())
	if err != nil {
		return nil, err
	}
	reply := &accountv1.BatchGetUsersResponse{Users: make([]*accountv1.User, len(found))}
	for i, u := range found {
		reply.Users[i] = shownProto(u)
	}
	return reply, nil
}

// UpdateUser changes a user. A new password, and disabling or enabling a user, begin another
// generation in the same write, so no session stays open, and none can still be opened.
func (s *server) UpdateUser(ctx context.Context,
	request *accountv1.UpdateUserRequest) (*accountv1.UpdateUserResponse, error) {
	if request.GetHidden() && request.Disabled != nil && !request.GetDisabled() {
		return nil, apierror.Invalid("INVALID_PARAMETER",
			apierror.Violation{Field: "hidden", Message: "must not be true with disabled set to false"})
	}
	passwordHash, err := s.passwords.hash(ctx, request.GetPassword())
	if err != nil {
		return nil, err
	}
	updated, err := s.users.Update(ctx, request.GetUserId(), func(u *user) error {
		if request.Name != nil {
			u.setName(request.GetName())
		}
		if request.IconUrl != nil {
			u.setIconURL(request.GetIconUrl())
		}
		if request.Email != nil {
			u.setEmail(request.GetEmail())
		}
		if request.Password != nil {
			if u.Email == "" {
				return apierror.New(codes.FailedPrecondition, "EMAIL_REQUIRED",
					"a password requires an email address; set email too")
			}
			u.setPassword(passwordHash)
			u.endSessions("")
		}
		wasDisabled := u.IsDisabled
		if request.Hidden != nil {
			u.hide(request.GetHidden())
		}
		if request.Disabled != nil {
			u.disable(request.GetDisabled())
		}
		if u.IsDisabled != wasDisabled {
			u.endSessions("")
		}
		return nil
	})
	if err != nil {
		return nil, emailTaken(noUser(err, request.GetUserId()))
	}
	if request.Password != nil || request.GetDisabled() || request.GetHidden() {
		s.removeClosed(ctx, updated, updated)
	}
	return &accountv1.UpdateUserResponse{User: userProto(updated)}, nil
}

// UpdateProfile changes what a user shows to others.
func (s *server) UpdateProfile(ctx context.Context,
	request *accountv1.UpdateProfileRequest) (*accountv1.UpdateProfileResponse, error) {
	if request.Name != nil {
		if err := checkNickname(request.GetName()); err != nil {
			return nil, err
		}
	}
	updated, err := s.users.Update(ctx, request.GetActorId(), func(u *user) error {
		if request.Name != nil {
			u.setName(request.GetName())
		}
		if request.IconUrl != nil {
			u.setIconURL(request.GetIconUrl())
		}
		return nil
	})
	if err != nil {
		return nil, noUser(err, request.GetActorId())
	}
	return &accountv1.UpdateProfileResponse{User: userProto(updated)}, nil
}

func (s *server) HasUsers(ctx context.Context) (bool, error) {
	page, err := s.users.Page(ctx, docstore.Query{Where: docstore.All(docstore.IDIndex), Limit: 1})
	return len(page.Documents) > 0, err
}

func noUser(err error, id int64) error {
	if errors.Is(err, docstore.ErrNotFound) {
		return apierror.NotFound("USER_NOT_FOUND", "there is no user %d", id)
	}
	return err
}

func emailTaken(err error) error {
	if duplicate, isDuplicate := errors.AsType[*docstore.DuplicateError](err); isDuplicate &&
		duplicate.Index == byEmail().Name {
		return errEmailTaken()
	}
	return err
}

func errEmailTaken() error {
	return apierror.New(codes.AlreadyExists, "EMAIL_TAKEN", "another user already has this email address")
}

// emailKey returns the same key for addresses that differ in letter case only.
func emailKey(email string) string { return strings.ToLower(email) }

// noEmailKey returns the key of a user without an address. It equals no address and no
// other user's key.
func noEmailKey(id int64) string { return "#" + strconv.FormatInt(id, 10) }

// maxNameKeyRunes is how much of a nickname is found by its beginning.
const maxNameKeyRunes = 100

// nameKey returns the key of a nickname. It is never empty.
func nameKey(name string) string {
	folded := []rune(strings.ToLower(name))
	return "=" + string(folded[:min(len(folded), maxNameKeyRunes)])
}

func (u *user) setName(name string) { u.Name, u.NameKey = name, nameKey(name) }

// setEmail sets the address; empty for none. The id must be set.
func (u *user) setEmail(email string) {
	u.Email, u.EmailKey = email, emailKey(email)
	if email == "" {
		u.EmailKey = noEmailKey(u.ID)
	}
}

// disable disables or enables the user. One who is enabled is not hidden.
func (u *user) disable(isDisabled bool) {
	if u.IsDisabled = isDisabled; !isDisabled {
		u.Hidden = 0
	}
}

// hide hides or shows what the user owns and writes. One who is hidden is disabled.
func (u *user) hide(hide bool) {
	if u.Hidden = 0; hide {
		u.Hidden, u.IsDisabled = isHidden, true
	}
}

// setPassword sets a hash that was made here.
func (u *user) setPassword(hash string) {
	u.PasswordHash, u.PasswordIsMoved = hash, false
}

func userProto(u user) *accountv1.User {
	all := shownProto(u)
	all.Email, all.HasPassword, all.Disabled = u.Email, u.PasswordHash != "", u.IsDisabled
	all.Hidden = u.Hidden == isHidden
	all.PasswordForm, all.IsSmall = formOf(u.PasswordHash), u.ID < id.Lowest && !u.IsMoved
	return all
}

// shownProto leaves out the email address and how the user logs in.
func shownProto(u user) *accountv1.User {
	return &accountv1.User{
		UserId: u.ID, Name: u.Name, IconUrl: u.iconURL(), CreateTime: timestamppb.New(u.CreateTime),
	}
}

// maxUpsertTries bounds the retries if a document is created and removed concurrently.
const maxUpsertTries = 16

// upsertFrom changes the document with the given id, or stores initial changed, which must have
// that id. before is what was read of it: the document, or nothing. It is right, but slower, if
// that has changed. If change returns an error, upsertFrom writes nothing and returns that error
// unwrapped.
func upsertFrom[K docstore.Key, T any](
	ctx context.Context, c *docstore.Collection[K, T], before []docstore.Stored[T], id K, initial T,
	change func(*T) error,
) error {
	isThere := len(before) > 0
	if isThere {
		var refused error
		err := c.UpdateFrom(ctx, before, func(document *T) bool {
			refused = change(document)
			return refused == nil
		})
		if !errors.Is(err, docstore.ErrConflict) {
			return cmp.Or(refused, err)
		}
	}
	for range maxUpsertTries {
		if !isThere {
			created := initial
			if err := change(&created); err != nil {
				return err
			}
			err := c.Insert(ctx, created)
			var another *docstore.DuplicateError
			if !errors.As(err, &another) {
				return err
			}
		}
		if _, err := c.Update(ctx, id, change); !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
		isThere = false
	}
	return fmt.Errorf("upsert %s: %w", c.Name(), docstore.ErrConflict)
}

// DeleteUser deletes a user. It deletes the user last, so a repeated call finishes what an
// earlier one began. Sweeps delete what calls from before the deletion add.
func (s *server) DeleteUser(ctx context.Context,
	request *accountv1.DeleteUserRequest) (*accountv1.DeleteUserResponse, error) {
	u, err := s.users.Get(ctx, request.GetUserId(), docstore.Linearizable)
	isGone := errors.Is(err, docstore.ErrNotFound)
	if err != nil && !isGone {
		return nil, err
	}
	if !isGone && !u.IsDisabled {
		return nil, apierror.New(codes.FailedPrecondition, "USER_NOT_DISABLED",
			"user %d is not disabled; disable the user first", u.ID)
	}
	if err := s.deleteBelongings(ctx, request.GetUserId()); err != nil {
		return nil, err
	}
	if u.IsMoved {
		// Sweeps forget the deletion, but MoveIn knows it for good.
		if err := s.moved.BuryAs(ctx, decimal(u.ID), u.ID); err != nil {
			return nil, err
		}
	}
	if !isGone {
		// With the user, what shows that the invitation is used is forgotten some time later.
		if err := s.dropInvitation(ctx, u); err != nil {
			return nil, err
		}
	}
	// The address becomes free.
	err = s.users.Delete(ctx, request.GetUserId(),
		docstore.Deletion{Set: []docstore.Condition{docstore.Is(byEmail().A, noEmailKey(request.GetUserId()))}})
	if errors.Is(err, docstore.ErrNotFound) {
		// An earlier call may have deleted the user and failed: make that durable.
		_, err = s.users.Get(ctx, request.GetUserId(), docstore.Linearizable)
	}
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return nil, err
	}
	return &accountv1.DeleteUserResponse{}, nil
}

// deleteBelongings deletes the sessions and rewards of a user.
func (s *server) deleteBelongings(ctx context.Context, userID int64) error {
	if _, err := s.sessions.DeleteAll(ctx, byUser().Is(userID).Everywhere()); err != nil {
		return err
	}
	_, err := s.rewards.DeleteAll(ctx, rewardsOf(userID))
	return err
}
