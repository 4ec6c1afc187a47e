package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// OpenSession opens a session for a user.
func (s *server) OpenSession(ctx context.Context,
	request *accountv1.OpenSessionRequest) (*accountv1.OpenSessionResponse, error) {
	opened, token, err := s.newSession(ctx, request.GetUserId(), nil)
	if err != nil {
		return nil, err
	}
	return &accountv1.OpenSessionResponse{Session: s.sessionProto(opened), Token: token}, nil
}

// newSession opens a session of the generation of a user as read before, or of the present one,
// and returns its token. If the user is given, newSession stores the session while it reads the
// user again: until it returns the token, no client has it, and a session of another generation is
// not open.
func (s *server) newSession(ctx context.Context, userID int64,
	checked *user) (opened session, token string, err error) {
	token, now := newToken(), s.now()
	opened = session{
		ID: tokenID(token), UserID: userID, ExpireMillis: now.Add(s.life.Total).UnixMilli(),
		CreateMillis: now.UnixMilli(), UsedMillis: now.UnixMilli(),
	}
	isStored := false
	steps := []func() error{
		func() error { return s.makeRoom(ctx, *checked, opened) },
		func() error { isStored = true; return s.sessions.Insert(ctx, opened) },
	}
	if checked == nil {
		present, err := s.mayOpen(ctx, userID, nil)
		if err != nil {
			return session{}, "", err
		}
		checked = &present
	} else {
		steps = slices.Insert(steps, 0, func() error {
			_, err := s.mayOpen(ctx, userID, &checked.CredentialGeneration)
			return err
		})
	}
	opened.CredentialGeneration = checked.CredentialGeneration
	if err := s.sessions.Together(steps...); err != nil {
		if isStored {
			s.discard(ctx, opened)
		}
		return session{}, "", err
	}
	return opened, token, nil
}

// mayOpen checks that a session of a generation, or of the present one, may be opened. It returns
// the user.
func (s *server) mayOpen(ctx context.Context, userID int64, generation *int64) (user, error) {
	u, err := s.users.Get(ctx, userID)
	switch {
	case err != nil:
		return user{}, noUser(err, userID)
	case generation != nil && *generation != u.CredentialGeneration:
		return user{}, loginRequired("the password was changed or all sessions were closed during the login; " +
			"log in again")
	case u.IsDisabled:
		return user{}, loginRequired("the user is disabled")
	}
	return u, nil
}

// discard deletes a session that was stored and refused, also if the caller is gone.
func (s *server) discard(ctx context.Context, refused session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.tidyTimeout)
	defer cancel()
	if err := s.deleteSession(ctx, refused); err != nil && !errors.Is(err, docstore.ErrNotFound) {
		s.log.WarnContext(ctx, "failed to delete a session that was refused", "error", err)
	}
}

// VerifySession returns the session if it is open. Every call reads the store, so all
// replicas refuse a session as soon as it is closed.
func (s *server) VerifySession(ctx context.Context,
	request *accountv1.VerifySessionRequest) (*accountv1.VerifySessionResponse, error) {
	found, _, err := s.openSession(ctx, request.GetUserId(), request.GetToken())
	if err != nil {
		return nil, err
	}
	found = s.noteUse(ctx, found)
	return &accountv1.VerifySessionResponse{Session: s.sessionProto(found)}, nil
}

func loginRequired(message string) error {
	return apierror.New(codes.Unauthenticated, "LOGIN_REQUIRED", "%s", message)
}

func (s *server) CloseSession(ctx context.Context,
	request *accountv1.CloseSessionRequest) (*accountv1.CloseSessionResponse, error) {
	id := tokenID(request.GetToken())
	if public := request.GetSessionId(); public != "" {
		var err error
		if id, err = s.idOf(ctx, request.GetUserId(), public); err != nil {
			return nil, err
		}
	}
	found, err := s.sessions.Get(ctx, id, docstore.Recent(sessionStaleness))
	if err == nil && found.UserID != request.GetUserId() {
		return &accountv1.CloseSessionResponse{}, nil
	}
	if err == nil {
		// Also a session that is not open: what ended it may not be durable yet.
		err = s.closeSession(ctx, found)
	}
	if errors.Is(err, docstore.ErrNotFound) {
		// The session may have been closed by an earlier call that failed: make that durable.
		_, err = s.sessions.Get(ctx, id, docstore.Linearizable)
	}
	if err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return nil, err
	}
	return &accountv1.CloseSessionResponse{}, nil
}

// idOf returns the id of a user's session with a public id. A close that may be undone has not
// removed it yet.
func (s *server) idOf(ctx context.Context, userID int64, public string) (string, error) {
	query := sessionsOf(user{ID: userID})
	query.As = docstore.Durable
	for batch, err := range s.sessions.Batches(ctx, query) {
		if err != nil {
			return "", err
		}
		for _, found := range batch {
			if found.ID[:publicIDDigits] == public {
				return found.ID, nil
			}
		}
	}
	return "", apierror.NotFound("SESSION_NOT_FOUND", "user %d has no session %s", userID, public)
}

// CloseAllSessions closes every session of a user but the one to keep, by one write.
func (s *server) CloseAllSessions(ctx context.Context,
	request *accountv1.CloseAllSessionsRequest) (*accountv1.CloseAllSessionsResponse, error) {
	var kept session
	if token := request.GetKeptToken(); token != "" {
		var err error
		if kept, _, err = s.openSession(ctx, request.GetUserId(), token); err != nil {
			return nil, err
		}
	}
	var before user
	u, err := s.users.Update(ctx, request.GetUserId(), func(u *user) error {
		if kept.ID != "" && !s.isOpen(kept, *u) {
			return loginRequired("the session to keep was closed meanwhile; log in again")
		}
		before = *u
		u.endSessions(kept.ID)
		return nil
	})
	if err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	return &accountv1.CloseAllSessionsResponse{ClosedCount: s.removeClosed(ctx, before, u)}, nil
}

// ListSessions returns a page of a user's open sessions.
func (s *server) ListSessions(ctx context.Context,
	request *accountv1.ListSessionsRequest) (*accountv1.ListSessionsResponse, error) {
	u, err := s.users.Get(ctx, request.GetUserId())
	if err != nil {
		return nil, noUser(err, request.GetUserId())
	}
	page, err := s.sessions.Page(ctx, docstore.Query{
		Where: byUser().Is(request.GetUserId()).Everywhere(),
		Token: request.GetPageToken(), Limit: service.PageSize(request.GetPageSize(), 100, service.MaxPage),
	})
	if err != nil {
		return nil, err
	}
	reply := &accountv1.ListSessionsResponse{NextPageToken: page.Next}
	for _, found := range page.Documents {
		if s.isOpen(found, u) {
			shown := s.sessionProto(found)
			shown.Current = found.ID == tokenID(request.GetToken())
			reply.Sessions = append(reply.Sessions, shown)
		}
	}
	return reply, nil
}

// sessionStaleness is how long after its end a session may still be accepted, by a process
// that is cut off from the majority of the store's servers together with the former primary.
const sessionStaleness = time.Second

// openSession returns the open session of a user with a token, and the user, or LOGIN_REQUIRED.
func (s *server) openSession(ctx context.Context, userID int64, token string) (found session, owner user, err error) {
	err = s.users.Together(func() (err error) {
		found, err = s.sessions.Get(ctx, tokenID(token), docstore.Recent(sessionStaleness))
		return err
	}, func() (err error) {
		owner, err = s.users.Get(ctx, userID, docstore.Recent(sessionStaleness))
		return err
	})
	switch {
	case errors.Is(err, docstore.ErrNotFound), err == nil && (found.UserID != userID || !s.isOpen(found, owner)):
		return session{}, user{}, loginRequired("the session is not open; log in again")
	case err != nil:
		return session{}, user{}, err
	}
	return found, owner, nil
}

// isOpen reports whether a session of a user is open.
func (s *server) isOpen(found session, of user) bool {
	isKept := found.ID == of.KeptSession && found.CredentialGeneration != closedGeneration
	return (found.CredentialGeneration == of.CredentialGeneration || isKept) && !of.IsDisabled && !s.hasEnded(found)
}

// hasEnded reports whether a session has ended by time.
func (s *server) hasEnded(found session) bool {
	now := s.now().UnixMilli()
	isIdle := s.life.Idle > 0 && found.UsedMillis+s.life.Idle.Milliseconds() <= now
	return now >= found.ExpireMillis || isIdle
}

// useNotedEvery is the minimum time between two stored uses of a session, or a tenth of
// the idle limit if that is shorter. So verifying a session rarely writes.
const useNotedEvery = 5 * time.Minute

// noteUse stores the use of a session if there is an idle limit. If the write fails, the
// session stays open. If the session is closed at the same time, it stays closed.
func (s *server) noteUse(ctx context.Context, used session) session {
	now := s.now().UnixMilli()
	if s.life.Idle <= 0 || now-used.UsedMillis < min(useNotedEvery, s.life.Idle/10).Milliseconds() {
		return used
	}
	noted, err := s.sessions.Update(ctx, used.ID, func(found *session) error {
		found.UsedMillis = max(found.UsedMillis, now)
		return nil
	})
	if err != nil {
		if !errors.Is(err, docstore.ErrNotFound) {
			s.log.WarnContext(ctx, "failed to store the last use of a session", "error", err)
		}
		return used
	}
	return noted
}

// publicIDDigits is how many digits of a session's id are public. That is enough to
// distinguish sessions. The id is a hash of 128 random bits, so it reveals nothing of them.
const publicIDDigits = 16

func (s *server) sessionProto(found session) *accountv1.Session {
	shown := &accountv1.Session{
		UserId: found.UserID, SessionId: found.ID[:publicIDDigits],
		ExpireTime: timestamppb.New(time.UnixMilli(found.ExpireMillis)),
	}
	if found.CreateMillis > 0 {
		shown.CreateTime = timestamppb.New(time.UnixMilli(found.CreateMillis))
	}
	if s.life.Idle > 0 {
		shown.LastUsedTime = timestamppb.New(time.UnixMilli(found.UsedMillis))
	}
	return shown
}

// tokenBytes is the size of the secret of a session: 128 random bits (rule 3.5).
const tokenBytes = 16

func newToken() string { return randomHex(tokenBytes) }

// tokenID returns the id under which a secret is stored. The lookup needs no constant-time
// comparison, because a caller who cannot guess the secret cannot choose the hash.
func tokenID(token string) string { return digestOf(token) }

// digestOf returns the SHA-256 of a text, in hexadecimal.
func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// randomHex returns n random bytes as lowercase hexadecimal digits.
func randomHex(n int) string {
	random := make([]byte, n)
	_, _ = rand.Read(random) // never fails; it would crash the program
	return hex.EncodeToString(random)
}
