package account

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/docstore"
)

const (
	// sessionBatch is how many sessions are read at a time.
	sessionBatch = 1000
	// maxClosed bounds the sessions that a new one closes.
	maxClosed = 100
	// tidyTimeout bounds how long a call reads and deletes sessions that are closed already.
	tidyTimeout = 2 * time.Second
)

// makeRoom closes the oldest sessions, other than opened, of a user who has as many open ones as
// the limit allows. Calls at the same moment may exceed the limit by their number; the next call
// closes the excess. A call closes at most maxClosed, so a lowered limit may take several calls.
func (s *server) makeRoom(ctx context.Context, of user, opened session) error {
	if s.maxSessions <= 0 {
		return nil
	}
	open, err := s.sessionsThat(ctx, of,
		func(found session) bool { return s.isOpen(found, of) && found.ID != opened.ID })
	if err != nil {
		return err
	}
	excess := len(open) - (s.maxSessions - 1)
	if excess <= 0 {
		return nil
	}
	slices.SortFunc(open, func(a, b session) int { return cmp.Compare(a.CreateMillis, b.CreateMillis) })
	return removeEach(ctx, open[:min(excess, maxClosed)], s.closeSession)
}

// removeClosed deletes the closed sessions of a user's earlier generations. It returns how many of
// them were open to the user as before, or nil if it could not count them. If a deletion fails, a
// sweep deletes the sessions when they expire.
func (s *server) removeClosed(ctx context.Context, before, u user) *int64 {
	ctx, cancel := context.WithTimeout(ctx, s.tidyTimeout)
	defer cancel()
	var closed int64
	removable, err := s.sessionsThat(ctx, u, func(found session) bool {
		if s.isOpen(found, before) && !s.isOpen(found, u) {
			closed++
		}
		return found.CredentialGeneration < u.CredentialGeneration && found.ID != u.KeptSession
	})
	if err != nil {
		s.log.WarnContext(ctx, "failed to read closed sessions", "error", err)
		return nil
	}
	if err := removeEach(ctx, removable, s.deleteSession); err != nil {
		s.log.WarnContext(ctx, "failed to delete closed sessions", "error", err)
	}
	return &closed
}

// sessionsThat returns the sessions of a user that keep chooses.
func (s *server) sessionsThat(ctx context.Context, u user, keep func(session) bool) (kept []session, err error) {
	for batch, err := range s.sessions.Batches(ctx, sessionsOf(u)) {
		if err != nil {
			return nil, err
		}
		kept = append(kept, slices.DeleteFunc(batch, func(found session) bool { return !keep(found) })...)
	}
	return kept, nil
}

func sessionsOf(u user) docstore.Query {
	return docstore.Query{Where: byUser().Is(u.ID).Everywhere(), Limit: sessionBatch}
}

// removeEach removes sessions in a way. Those that are gone already are no error.
func removeEach(ctx context.Context, sessions []session, remove func(context.Context, session) error) error {
	for _, each := range sessions {
		if err := remove(ctx, each); err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (s *server) deleteSession(ctx context.Context, of session) error {
	return s.sessions.Delete(ctx, of.ID)
}

// closedGeneration is a generation that no user has.
const closedGeneration = -1

// closeSession closes a session of the user's generation. It deletes the session, unless it was
// moved in. Such a session stays, closed, as long as the user's generation, so that moving it in
// again does not open it: another call may give it a later end.
func (s *server) closeSession(ctx context.Context, of session) error {
	if !of.IsMoved {
		return s.deleteSession(ctx, of)
	}
	_, err := s.sessions.Update(ctx, of.ID, func(stored *session) error {
		stored.CredentialGeneration, stored.ExpireMillis = closedGeneration, math.MaxInt64
		return nil
	})
	return err
}
