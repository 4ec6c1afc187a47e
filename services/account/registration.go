package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/text"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Registration says who may register. It is a flag.
type Registration int

const (
	// Closed: registration is off.
	Closed Registration = iota
	// Open: everybody may.
	Open
	// ByInvitation: the owner of an invitation's code may register, once.
	ByInvitation
)

var registrationWords = [...]string{Closed: "closed", Open: "open", ByInvitation: "invite"}

func (r Registration) String() string { return registrationWords[r] }

func (r *Registration) Set(value string) error {
	for each, word := range registrationWords {
		if value == word {
			*r = Registration(each)
			return nil
		}
	}
	return fmt.Errorf("%q is not closed, open or invite", value)
}

// GetRegistration returns who may register.
func (s *server) GetRegistration(context.Context,
	*accountv1.GetRegistrationRequest) (*accountv1.GetRegistrationResponse, error) {
	shown := map[Registration]accountv1.Registration{
		Closed: accountv1.Registration_REGISTRATION_CLOSED, Open: accountv1.Registration_REGISTRATION_OPEN,
		ByInvitation: accountv1.Registration_REGISTRATION_INVITE,
	}
	return &accountv1.GetRegistrationResponse{Registration: shown[s.registration]}, nil
}

// invitationTTL is how long an invitation may be used.
const invitationTTL = 7 * 24 * time.Hour

// CreateInvitation creates an invitation and returns its code, of which the store has only the
// hash.
func (s *server) CreateInvitation(ctx context.Context,
	_ *accountv1.CreateInvitationRequest) (*accountv1.CreateInvitationResponse, error) {
	if s.registration != ByInvitation {
		return nil, apierror.New(codes.FailedPrecondition, "INVITATIONS_OFF",
			"no invitation is needed or accepted; start with -registration invite")
	}
	code, expires := newToken(), s.now().Add(invitationTTL)
	if err := s.invitations.Insert(ctx, invitation{ID: digestOf(code),
		ExpireMillis: expires.UnixMilli()}); err != nil {
		return nil, err
	}
	return &accountv1.CreateInvitationResponse{Code: code, ExpireTime: timestamppb.New(expires)}, nil
}

// RegisterUser creates a user for a stranger. It refuses an invitation by reads alone, because
// codes cannot be guessed, and hashes the password last, which is the expensive part.
func (s *server) RegisterUser(ctx context.Context,
	request *accountv1.RegisterUserRequest) (*accountv1.RegisterUserResponse, error) {
	if s.registration == Closed {
		return nil, apierror.New(codes.FailedPrecondition, "REGISTRATION_CLOSED", "registration is closed")
	}
	if err := checkNickname(request.GetName()); err != nil {
		return nil, err
	}
	by := s.registeredBy(request)
	// A repeat of an attempt that succeeded is no attempt.
	registered, isRepeat, err := docstore.Answered(ctx, s.users, by)
	if err != nil {
		return nil, s.invitationInvalid(err)
	}
	if isRepeat {
		return &accountv1.RegisterUserResponse{User: userProto(registered)}, nil
	}
	if err := s.checkInvitation(ctx, request.GetInvitation()); err != nil {
		return nil, s.invitationInvalid(err)
	}
	if err := s.logins.takeRegistration(ctx, request.GetClientAddress()); err != nil {
		return nil, err
	}
	// A repeat may meet the user that the first call has just made.
	switch taken, err := s.users.Find(ctx, byEmail().Is(emailKey(request.GetEmail()))); {
	case err == nil && (by.ID == "" || taken.RequestKey != by.ID):
		return nil, errEmailTaken()
	case err != nil && !errors.Is(err, docstore.ErrNotFound):
		return nil, err
	}
	passwordHash, err := s.passwords.hash(ctx, request.GetPassword())
	if err != nil {
		return nil, err
	}
	created, _, err := docstore.Create(ctx, s.users, s.drawUser(ctx), by, func(id int64, requestKey string) user {
		u := user{ID: id, RequestKey: requestKey, CreateTime: s.now(), PasswordHash: passwordHash}
		u.setName(request.GetName())
		u.setEmail(request.GetEmail())
		return u
	})
	if err != nil {
		return nil, emailTaken(s.invitationInvalid(err))
	}
	return &accountv1.RegisterUserResponse{User: userProto(created)}, nil
}

// checkNickname refuses a nickname that a stranger chose to look like that of another.
func checkNickname(name string) error {
	if text.IsDisguised(name) {
		return apierror.Invalid("INVALID_PARAMETER", apierror.Violation{
			Field: "name", Message: "must have no blanks at its ends or side by side, and no invisible characters",
		})
	}
	return nil
}

// registeredBy returns what makes the user of a registration unique. An invitation takes the place
// of the request id: no two users have the same one, so no two users are made of an invitation.
// The digest tells a repeat, which has the same request id, from another use.
func (s *server) registeredBy(request *accountv1.RegisterUserRequest) docstore.Request {
	shown := proto.CloneOf(request)
	shown.Password, shown.ClientAddress = "", ""
	if s.registration != ByInvitation {
		return docstore.Request{ID: request.GetRequestId(), Digest: service.Digest(shown)}
	}
	shown.RequestId = cmp.Or(request.GetRequestId(), newToken())
	return docstore.Request{ID: usedBy(digestOf(request.GetInvitation())), Digest: service.Digest(shown)}
}

// usedBy returns the request key of the user who registered with an invitation. No UUID is like
// it.
func usedBy(invitationID string) string { return invitationKey + invitationID }

const invitationKey = "invitation/"

// errInvitation reports that an invitation does not exist or has expired.
var errInvitation = errors.New("account: no such invitation")

// checkInvitation checks that an invitation exists, if one is needed. Only the insert of the user
// shows that it is not used.
func (s *server) checkInvitation(ctx context.Context, code string) error {
	if s.registration != ByInvitation {
		return nil
	}
	found, err := s.invitations.Get(ctx, digestOf(code))
	if errors.Is(err, docstore.ErrNotFound) || err == nil && s.now().UnixMilli() >= found.ExpireMillis {
		return errInvitation
	}
	return err
}

// isUsed reports whether an error says that another registration used the invitation.
func (s *server) isUsed(err error) bool {
	return s.registration == ByInvitation &&
		(errors.Is(err, docstore.ErrRequestReused) || errors.Is(err, docstore.ErrGone))
}

// invitationInvalid converts the error of an invitation that is unknown, expired or used.
func (s *server) invitationInvalid(err error) error {
	if errors.Is(err, errInvitation) || s.isUsed(err) {
		return apierror.New(codes.PermissionDenied, "INVITATION_INVALID",
			"the invitation does not exist, is used, or has expired")
	}
	return err
}

// dropInvitation deletes the invitation with which a user registered.
func (s *server) dropInvitation(ctx context.Context, u user) error {
	id, isInvited := strings.CutPrefix(u.RequestKey, invitationKey)
	if !isInvited {
		return nil
	}
	if err := s.invitations.Delete(ctx, id); !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}
