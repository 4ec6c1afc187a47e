// Package account is the account service: users and their sessions.
package account

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/serve/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// DefaultSessionTTL is how long a session lasts unless the program is told otherwise.
const DefaultSessionTTL = 30 * 24 * time.Hour

// Server implements AccountService. It may be used concurrently.
type Server struct {
	accountv1.UnimplementedAccountServiceServer

	users      *docstore.Collection[user]
	sessions   *docstore.Collection[session]
	draw       func() int64
	now        func() time.Time
	sessionTTL time.Duration
}

// New returns the service over a store.
func New(ctx context.Context, deps service.Deps, sessionTTL time.Duration) (*Server, error) {
	users, err := docstore.Open[user](ctx, deps.Store, usersSpec())
	if err != nil {
		return nil, err
	}
	sessions, err := docstore.Open[session](ctx, deps.Store, sessionsSpec())
	if err != nil {
		return nil, err
	}
	return &Server{users: users, sessions: sessions, draw: deps.Draw, now: deps.Now, sessionTTL: sessionTTL}, nil
}

// Register registers the service.
func (s *Server) Register(registrar grpc.ServiceRegistrar) {
	accountv1.RegisterAccountServiceServer(registrar, s)
}

// Sweep removes sessions that expired.
func (s *Server) Sweep(ctx context.Context) error {
	return s.removeExpired(ctx)
}
