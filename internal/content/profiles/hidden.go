package profiles

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// askEvery is how old the known hidden users may be until a call asks for them again; other
	// calls use the known ones meanwhile. Calls wait for the answer when they are older than
	// maxHiddenAge, after a time without calls.
	askEvery, maxHiddenAge = 5 * time.Second, 20 * time.Second
	// askTimeout bounds the time to ask.
	askTimeout = time.Second
)

// HiddenUsers are users whose content and comments readers do not see.
type HiddenUsers map[int64]bool

// Require returns USER_NOT_FOUND for a hidden user.
func (h HiddenUsers) Require(userID int64) error {
	if h[userID] {
		return noUser(userID)
	}
	return nil
}

func noUser(id int64) error { return apierror.NotFound("USER_NOT_FOUND", "there is no user %d", id) }

// Hidden knows the hidden users, as they were at most 30 seconds ago (rule 4.23). While the
// account service is down, they are those that were known last, and none after a start. A nil
// Hidden knows none. It may be used concurrently.
type Hidden struct {
	account accountv1.AccountServiceClient
	log     *slog.Logger
	now     func() time.Time

	known atomic.Pointer[known]
	// asking is a semaphore of one.
	asking chan struct{}
}

type known struct {
	users HiddenUsers
	asked time.Time
}

// NewHidden returns a Hidden of the users of an account service.
func NewHidden(account accountv1.AccountServiceClient, log *slog.Logger, now func() time.Time) *Hidden {
	return &Hidden{account: account, log: log, now: now, asking: make(chan struct{}, 1)}
}

// Users returns the hidden users. The caller must not change them.
func (h *Hidden) Users(ctx context.Context) HiddenUsers {
	if h == nil {
		return nil
	}
	last := h.known.Load()
	if last != nil {
		age := h.now().Sub(last.asked)
		switch isSet := age >= 0; { // the clock may have been set back
		case isSet && age < askEvery:
			return last.users
		case isSet && age < maxHiddenAge:
			select {
			case h.asking <- struct{}{}:
				return h.ask(ctx, last)
			default:
				return last.users
			}
		}
	}
	select {
	case h.asking <- struct{}{}:
		return h.ask(ctx, last)
	case <-ctx.Done():
		return nil // the caller has stopped waiting
	}
}

// ask asks for the hidden users, unless another call has since last was known. The caller holds
// the semaphore.
func (h *Hidden) ask(ctx context.Context, last *known) HiddenUsers {
	defer func() { <-h.asking }()
	if newest := h.known.Load(); newest != last {
		return newest.users
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	next := &known{users: HiddenUsers{}, asked: h.now()}
	for token := ""; ; {
		reply, err := h.account.ListHiddenUsers(asking, &accountv1.ListHiddenUsersRequest{PageToken: token})
		if ctx.Err() != nil { // the caller has left, and others ask for themselves
			if last == nil {
				return nil
			}
			return last.users
		}
		if err != nil {
			h.log.WarnContext(ctx, "the hidden users are those that were known last", "error", err)
			if next.users = nil; last != nil {
				next.users = last.users
			}
			break
		}
		for _, id := range reply.GetUserIds() {
			next.users[id] = true
		}
		if token = reply.GetNextPageToken(); token == "" {
			break
		}
	}
	h.known.Store(next)
	return next.users
}
