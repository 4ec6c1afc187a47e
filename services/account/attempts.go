package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
)

const (
	// attemptWindow is how long attempts count: until the next full quarter of an hour.
	attemptWindow = 15 * time.Minute
	// attemptsPerEmail is few for guessing a password and many for mistyping it.
	attemptsPerEmail = 10
	// attemptsPerClient leaves room for many people behind one address.
	attemptsPerClient = 100
	// attemptGrace is how long counts are kept behind their window: longer than a
	// call may run and than clocks differ, so that nobody counts on when one goes.
	attemptGrace = 5 * time.Minute
	// maxCountTries bounds how often a count that comes and goes is tried anew.
	maxCountTries = 16
)

// limiter limits attempts to log in, over all processes that share the store. An
// attempt is counted before it is made, so that no number of attempts at a time
// exceeds a limit. It may be used concurrently.
type limiter struct {
	attempts            *docstore.Collection[attempts]
	now                 func() time.Time
	perEmail, perClient int64
}

func newLimiter(attempts *docstore.Collection[attempts], now func() time.Time) *limiter {
	return &limiter{attempts: attempts, now: now, perEmail: attemptsPerEmail, perClient: attemptsPerClient}
}

// attempt is an attempt that is counted.
type attempt struct {
	// email and client are where; client is empty when it is not known.
	email, client string
}

// begin counts an attempt, or refuses it with TOO_MANY_ATTEMPTS. A client that has had
// its share is refused first, and takes nothing from the address any more.
func (l *limiter) begin(ctx context.Context, emailKey, clientAddress string) (attempt, error) {
	now := l.now()
	end := now.Truncate(attemptWindow).Add(attemptWindow)
	counted := attempt{email: attemptsID("email", emailKey, end)}
	if clientAddress != "" {
		counted.client = attemptsID("client", clientAddress, end)
		if err := l.count(ctx, counted.client, l.perClient, now, end); err != nil {
			return attempt{}, err
		}
	}
	if err := l.count(ctx, counted.email, l.perEmail, now, end); err != nil {
		return attempt{}, err
	}
	return counted, nil
}

// succeeded forgets the attempts for the email address, and for the client this one
// only: who knows one password may still guess others.
func (l *limiter) succeeded(ctx context.Context, counted attempt) error {
	if counted.client != "" {
		_, err := l.attempts.Update(ctx, counted.client, func(a *attempts) error {
			a.Count--
			return nil
		})
		if err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	if err := l.attempts.Delete(ctx, counted.email); err != nil && !errors.Is(err, docstore.ErrNotFound) {
		return err
	}
	return nil
}

// count adds one to the attempts of a window counted under an id, unless there are
// limit already.
func (l *limiter) count(ctx context.Context, id string, limit int64, now, end time.Time) error {
	for range maxCountTries {
		_, err := l.attempts.Update(ctx, id, func(a *attempts) error {
			if a.Count >= limit {
				return tooManyAttempts(end.Sub(now))
			}
			a.Count++
			return nil
		})
		if !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
		err = l.attempts.Insert(ctx, attempts{ID: id, Count: 1, ExpireMillis: end.Add(attemptGrace).UnixMilli()})
		var another *docstore.DuplicateError
		if !errors.As(err, &another) {
			return err
		}
	}
	return fmt.Errorf("count an attempt to log in: %w", docstore.ErrConflict)
}

func (l *limiter) removeExpired(ctx context.Context) error {
	return removeExpired(ctx, l.attempts, l.now(), func(old attempts) string { return old.ID })
}

// attemptsID is where the attempts of one window are counted: no window's count is
// ever that of another, so an old one can be removed while attempts go on. Only a hash
// is kept of what was typed, which may be a password in the wrong field.
func attemptsID(kind, of string, end time.Time) string {
	sum := sha256.Sum256([]byte(of))
	return kind + ":" + hex.EncodeToString(sum[:]) + "/" + strconv.FormatInt(end.Unix(), 10)
}

func tooManyAttempts(wait time.Duration) error {
	e := apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "there were too many attempts to log in; try again in %v",
		(wait + time.Second - 1).Truncate(time.Second))
	e.RetryAfter = wait
	return e
}
