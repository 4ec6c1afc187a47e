package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/fault"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// tokenBytes is the size of a session's secret: 128 random bits (DESIGN §4).
const tokenBytes = 16

// expiredBatch is how many expired sessions are removed at a time.
const expiredBatch = 200

// OpenSession opens a session for a user.
func (s *Server) OpenSession(ctx context.Context, request *accountv1.OpenSessionRequest) (*accountv1.OpenSessionResponse, error) {
	if _, err := s.users.Get(ctx, request.GetUserId()); err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	var secret [tokenBytes]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return nil, err
	}
	token := hex.EncodeToString(secret[:])
	opened := session{
		ID: sessionID(token), UserID: request.GetUserId(), ExpireMillis: s.now().Add(s.sessionTTL).UnixMilli(),
	}
	if err := s.sessions.Insert(ctx, opened); err != nil {
		return nil, err
	}
	return &accountv1.OpenSessionResponse{Session: sessionProto(opened), Token: token}, nil
}

// VerifySession tells whether a session is open. Every call asks the store, so that
// a closed session is refused everywhere at once.
func (s *Server) VerifySession(ctx context.Context, request *accountv1.VerifySessionRequest) (*accountv1.VerifySessionResponse, error) {
	found, err := s.openSession(ctx, request.GetUserId(), request.GetToken())
	if errors.Is(err, docstore.ErrNotFound) {
		return nil, fault.New(codes.Unauthenticated, "LOGIN_REQUIRED", "the session is not open")
	}
	if err != nil {
		return nil, err
	}
	return &accountv1.VerifySessionResponse{Session: sessionProto(found)}, nil
}

// CloseSession closes a session.
func (s *Server) CloseSession(ctx context.Context, request *accountv1.CloseSessionRequest) (*accountv1.CloseSessionResponse, error) {
	found, err := s.openSession(ctx, request.GetUserId(), request.GetToken())
	if err == nil {
		err = s.sessions.Delete(ctx, found.ID)
	}
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return nil, err
	}
	return &accountv1.CloseSessionResponse{}, nil
}

// CloseAllSessions closes every session of a user.
func (s *Server) CloseAllSessions(ctx context.Context, request *accountv1.CloseAllSessionsRequest) (*accountv1.CloseAllSessionsResponse, error) {
	if _, err := s.users.Get(ctx, request.GetUserId()); err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	// Those that expired are not open; they are no part of the count.
	if err := s.removeExpired(ctx); err != nil {
		return nil, err
	}
	closed, err := s.sessions.DeleteAll(ctx, userIndex, request.GetUserId())
	if err != nil {
		return nil, err
	}
	return &accountv1.CloseAllSessionsResponse{ClosedCount: closed}, nil
}

// openSession returns an open session of a user, or docstore.ErrNotFound.
func (s *Server) openSession(ctx context.Context, userID int64, token string) (session, error) {
	found, err := s.sessions.Get(ctx, sessionID(token))
	if err == nil && (found.UserID != userID || found.ExpireMillis <= s.now().UnixMilli()) {
		return session{}, docstore.ErrNotFound
	}
	return found, err
}

func (s *Server) removeExpired(ctx context.Context) error {
	for {
		page, err := s.sessions.Page(ctx, docstore.Query{Index: expiryIndex, Limit: expiredBatch})
		if err != nil {
			return err
		}
		for _, old := range page.Documents {
			if old.ExpireMillis > s.now().UnixMilli() {
				return nil
			}
			if err := s.sessions.Delete(ctx, old.ID); err != nil && !errors.Is(err, docstore.ErrNotFound) {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
	}
}

// sessionID is under what a session is stored. The lookup needs no constant-time
// comparison: who can't guess the secret can't choose the hash.
func sessionID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func sessionProto(s session) *accountv1.Session {
	return &accountv1.Session{UserId: s.UserID, ExpireTime: timestamppb.New(time.UnixMilli(s.ExpireMillis))}
}
