// Package account is the account service. It manages users with their passwords, sessions and
// rewards.
package account

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/chance"
	"github.com/waybook/waybook/internal/content/aliases"
	"github.com/waybook/waybook/internal/content/changes"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// DefaultSessionTTL is the default of -session-ttl.
	DefaultSessionTTL = 30 * 24 * time.Hour
	// DefaultSessionsPerUser is the default of -sessions-per-user. It has room for a person
	// with ten browsers who logs in on each of them every three days and never logs out, over
	// the 30 days of a session.
	DefaultSessionsPerUser = 100
	// DefaultRegistrationsPerAddress is the default of -registrations-per-address: enough for a
	// household or a small office behind one address.
	DefaultRegistrationsPerAddress = 10
	// DefaultRegistrationsPerHour is the default of -registrations-per-hour. A client with many
	// addresses can reach it, and makes others wait: so it is above the need of a small site, and
	// far below what its machine can hash.
	DefaultRegistrationsPerHour = 300
)

// SessionLife bounds the lifetime of sessions.
type SessionLife struct {
	// Total is how long a session lasts, used or not. Idle is how long it may go unused;
	// 0 means without limit.
	Total, Idle time.Duration
}

// Config is the configuration of the service.
type Config struct {
	Sessions SessionLife
	// SessionsPerUser limits the open sessions of a user. 0 means no limit.
	SessionsPerUser int
	// Registration says who may register.
	Registration Registration
	// RegistrationsPerAddress and RegistrationsPerHour limit the attempts to register in an hour,
	// from one client address and in all. 0 means no limit.
	RegistrationsPerAddress, RegistrationsPerHour int64
}

func (c *Config) Register(flags *flag.FlagSet) {
	flags.DurationVar(&c.Sessions.Total, "session-ttl", DefaultSessionTTL, "how long a session lasts")
	flags.DurationVar(&c.Sessions.Idle, "session-idle", 0,
		"how long a session may go unused, 0 for no limit; the last use is stored at most every 5 minutes")
	flags.IntVar(&c.SessionsPerUser, "sessions-per-user", DefaultSessionsPerUser,
		"limit of a user's open sessions, 0 for none; a new one closes the oldest")
	flags.Var(&c.Registration, "registration",
		"`who` may register: no user (closed, the default), all (open), or users with an invitation (invite)")
	flags.Int64Var(&c.RegistrationsPerAddress, "registrations-per-address", DefaultRegistrationsPerAddress,
		"limit of attempts to register from an address in an hour, 0 for none; behind a proxy it needs "+
			"-trusted-proxies")
	flags.Int64Var(&c.RegistrationsPerHour, "registrations-per-hour", DefaultRegistrationsPerHour,
		"limit of attempts to register in an hour, of all addresses together, 0 for none")
}

// server implements AccountService. It may be used concurrently.
type server struct {
	accountv1.UnimplementedAccountServiceServer
	moveinv1.UnimplementedMoveInServiceServer

	store    docstore.Engine
	users    *docstore.Collection[int64, user]
	sessions *docstore.Collection[string, session]
	rewards  *docstore.Collection[string, reward]
	// invitations let users register if registration is ByInvitation.
	invitations  *docstore.Collection[string, invitation]
	registration Registration
	icons        icons
	passwords    *passwords
	logins       *limiter
	// moved are the deleted users who were moved in.
	moved *aliases.Aliases
	ids   *id.Source
	// small draws small identifiers instead, unless it is nil.
	small *smallids.Counter
	now   func() time.Time
	// kept is how long a deletion is shown to followers.
	kept        time.Duration
	life        SessionLife
	maxSessions int
	tidyTimeout time.Duration
	log         *slog.Logger
}

// Service is the account service.
type Service interface {
	service.Service
	accountv1.AccountServiceServer
	// HasUsers reports whether any user exists. Program standalone uses it to fill an empty
	// store with demo content.
	HasUsers(context.Context) (bool, error)
}

// New returns the service. It opens its collections in deps.Store.
func New(ctx context.Context, deps service.Deps, config Config) (Service, error) {
	users, err := docstore.Open[int64, user](ctx, deps.Store, usersSpec(deps.Changes))
	if err != nil {
		return nil, err
	}
	sessions, err := docstore.Open[string, session](ctx, deps.Store, sessionsSpec())
	if err != nil {
		return nil, err
	}
	rewards, err := docstore.Open[string, reward](ctx, deps.Store, rewardsSpec())
	if err != nil {
		return nil, err
	}
	attempts, err := docstore.Open[string, attempts](ctx, deps.Store, attemptsSpec())
	if err != nil {
		return nil, err
	}
	invitations, err := docstore.Open[string, invitation](ctx, deps.Store, invitationsSpec())
	if err != nil {
		return nil, err
	}
	icons, err := openIcons(ctx, deps, users)
	if err != nil {
		return nil, err
	}
	moved, err := aliases.Open(ctx, deps.Store, "user_aliases")
	if err != nil {
		return nil, err
	}
	s := &server{
		store: deps.Store, moved: moved, icons: icons,
		users: users, sessions: sessions, rewards: rewards, invitations: invitations,
		registration: config.Registration,
		passwords:    newPasswords(), logins: newLimiter(attempts, deps.Now),
		ids: deps.NewIDs(), now: deps.Now, kept: deps.Changes.KeptTime(), life: config.Sessions,
		maxSessions: config.SessionsPerUser, tidyTimeout: tidyTimeout, log: deps.Log,
	}
	s.logins.limits.registrations, s.logins.limits.registrationsInAll = config.RegistrationsPerAddress, config.RegistrationsPerHour
	if s.small, err = openSmall(ctx, deps, users); err != nil {
		return nil, err
	}
	return s, nil
}

// Name is the service's name in metrics and logs.
func (s *server) Name() string { return "account" }

// Register registers the service with a gRPC server.
func (s *server) Register(registrar grpc.ServiceRegistrar) {
	accountv1.RegisterAccountServiceServer(registrar, s)
}

func (s *server) Parts() service.Parts {
	return service.Parts{Kind: typev1.Kind_KIND_USER, Changes: changes.New(s.users), Records: s}
}

// Sweep removes expired sessions and invitations, and old counts of attempts. It removes what
// belonged to deleted users, forgets old deletions, and deletes icons that no user has.
//
// It takes the time once, so it ends, however many documents expire meanwhile. What it removes has
// expired by the clock of the store, too: others may need what has expired by a wrong clock.
func (s *server) Sweep(ctx context.Context) error {
	now := s.now()
	stored, err := s.users.Now(ctx)
	if err != nil {
		return err
	}
	if stored.Before(now) {
		now = stored
	}
	return errors.Join(
		removeExpired(ctx, s.sessions, now, func(old session) int64 { return old.ExpireMillis }),
		removeExpired(ctx, s.logins.attempts, now, func(old attempts) int64 { return old.ExpireMillis }),
		removeExpired(ctx, s.invitations, now, func(old invitation) int64 { return old.ExpireMillis }),
		s.users.Sweep(ctx, s.kept, s.deleteBelongings), s.icons.sweep(ctx),
	)
}

func decimal(userID int64) string { return strconv.FormatInt(userID, 10) }

// removeExpired removes the documents that have expired. Replicas may do so at the same time. Each
// begins at a random moment, so that they mostly remove different documents: it first removes what
// expired since that moment, and then what expired before. expiry is in milliseconds since 1970.
func removeExpired[T any](ctx context.Context, c *docstore.Collection[string, T], now time.Time,
	expiry func(T) int64) error {
	oldest, err := c.Find(ctx, byExpiry().In(docstore.UpTo(now.UnixMilli())).Everywhere())
	if errors.Is(err, docstore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	first, last := expiry(oldest), now.UnixMilli()
	middle := first + chance.Below(last-first+1)
	for _, expired := range []docstore.Span{docstore.Between(middle, last), docstore.UpTo(middle - 1)} {
		if _, err := c.DeleteAll(ctx, byExpiry().In(expired).Everywhere()); err != nil {
			return err
		}
	}
	return nil
}
