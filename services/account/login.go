package account

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// Authenticate opens a session for the user with the given email address and password. An unknown
// address, a user without a password and a disabled one take the same work as a wrong password.
func (s *server) Authenticate(ctx context.Context, request *accountv1.AuthenticateRequest) (*accountv1.AuthenticateResponse, error) {
	from := source{emailKey: emailKey(request.GetEmail()), client: request.GetClientAddress()}
	found, device, err := s.knownDevice(ctx, from.emailKey, request.GetDeviceTokens())
	if err != nil {
		return nil, err
	}
	from.device = device.ID
	var begun attempt
	err = s.users.Together(func() (err error) {
		begun, err = s.logins.begin(ctx, from)
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
		return nil, err
	}
	isRight = isRight && !found.IsDisabled
	if err := s.logins.judged(ctx, begun, isRight); err != nil {
		return nil, err
	}
	if !isRight {
		return nil, apierror.New(codes.Unauthenticated, "PASSWORD_INCORRECT", "the email address or the password is incorrect")
	}
	var notRemembered error
	var opened session
	var token string
	err = s.users.Together(func() error {
		device, notRemembered = s.devices.remember(ctx, found, device)
		return nil
	}, func() (err error) {
		opened, token, err = s.newSession(ctx, found.ID, &found.CredentialGeneration)
		return err
	})
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
func (s *server) knownDevice(ctx context.Context, emailKey string, tokens []string) (user, present, error) {
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
func (s *server) renewHash(ctx context.Context, by lane, u user, password string) {
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

const (
	// deviceLife is how long a device is known after the last login from it.
	deviceLife = 365 * 24 * time.Hour
	// deviceRenewal is how much a device's time is extended at least. So a login from a known
	// device rarely writes.
	deviceRenewal = 24 * time.Hour
	// maxDevices bounds the known devices of a user. Clients that never send a device token
	// back get a new one with each login, so the bound is far above what a person has.
	maxDevices = 100
)

// devices are the devices from which users have logged in, over all processes that share the
// store. Attempts from them have a limit of their own, so strangers lock nobody out. Devices
// may be used concurrently.
type devices struct {
	stored *docstore.Collection[int64, userDevices]
	now    func() time.Time
	turns  *turns
}

// present is a device that a client has named by its token.
type present struct {
	device
	userID int64
	token  string
}

// usersOf returns the ids of users that tokens name.
func usersOf(tokens []string) (ids []int64, err error) {
	ids = make([]int64, len(tokens))
	for i, token := range tokens {
		id, _, _ := strings.Cut(token, "-")
		if ids[i], err = strconv.ParseInt(id, 10, 64); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// named returns the devices of users that tokens name and that have not expired. The users may
// have another generation by now.
func (d *devices) named(ctx context.Context, tokens []string, ids []int64) (all []present, err error) {
	stored, err := d.stored.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	now := d.now().UnixMilli()
	for i, token := range tokens {
		for _, of := range stored {
			for _, each := range of.Devices {
				if of.UserID == ids[i] && each.ID == tokenID(token) && now < each.ExpireMillis {
					all = append(all, present{each, of.UserID, token})
				}
			}
		}
	}
	return all, nil
}

// remember extends the time of a known device. For the zero device it stores a new one. It
// returns the device.
func (d *devices) remember(ctx context.Context, u user, last present) (present, error) {
	now := d.now()
	next := last
	next.CredentialGeneration, next.ExpireMillis = u.CredentialGeneration, now.Add(deviceLife).UnixMilli()
	if next.ID == "" {
		next.userID, next.token = u.ID, strconv.FormatInt(u.ID, 10)+"-"+newToken()
		next.ID = tokenID(next.token)
	} else if next.ExpireMillis-last.ExpireMillis < deviceRenewal.Milliseconds() {
		return last, nil
	}
	done, err := d.turns.take(ctx, u.EmailKey)
	if err != nil {
		return present{}, err
	}
	defer done()
	err = upsert(ctx, d.stored, u.ID, userDevices{UserID: u.ID}, func(of *userDevices) error {
		of.put(next.device, now.UnixMilli())
		return nil
	})
	return next, err
}

// put stores a device in the place that it has, or that an invalid device has, or in a new
// one. If there are maxDevices, it takes the place of the one that was used least recently.
// All other devices keep their places, so that the change of the document is small.
func (of *userDevices) put(next device, nowMillis int64) {
	of.ExpireMillis = max(of.ExpireMillis, next.ExpireMillis)
	place := slices.IndexFunc(of.Devices, func(each device) bool { return each.ID == next.ID })
	if place < 0 {
		place = slices.IndexFunc(of.Devices, func(each device) bool {
			return each.CredentialGeneration < next.CredentialGeneration || each.ExpireMillis <= nowMillis
		})
	}
	if place < 0 && len(of.Devices) < maxDevices {
		of.Devices = append(of.Devices, next)
		return
	}
	if place < 0 {
		place = slices.Index(of.Devices, slices.MinFunc(of.Devices, func(a, b device) int {
			return cmp.Compare(a.ExpireMillis, b.ExpireMillis)
		}))
	}
	of.Devices[place] = next
}
