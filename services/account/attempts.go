package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
)

const (
	// attemptWindow is the length of a window. Windows begin at each full quarter of an hour.
	attemptWindow = 15 * time.Minute
	// attemptsPerEmail is low enough to stop guessing and high enough for typing errors.
	attemptsPerEmail = 10
	// attemptsPerClient is higher, because many people may share a client address.
	attemptsPerClient = 100
	// attemptGrace is how long a count is kept after its window. It is longer than any
	// call and than the difference between clocks, so no call still uses a removed count.
	attemptGrace = 5 * time.Minute
	// maxCountTries bounds the retries if a count is created and removed concurrently.
	maxCountTries = 16
)

// limiter limits login attempts over all processes that share the store. It counts an
// attempt before the password is checked, so concurrent attempts cannot exceed a limit.
// It may be used concurrently.
type limiter struct {
	attempts            *docstore.Collection[string, attempts]
	now                 func() time.Time
	perEmail, perClient int64
	// turns are locks, each for a part of the ids. Without them, many attempts at once on one
	// address would change one document against each other and run into their deadlines.
	turns [64]chan struct{}
	seed  maphash.Seed
}

func newLimiter(attempts *docstore.Collection[string, attempts], now func() time.Time) *limiter {
	l := &limiter{
		attempts: attempts, now: now, perEmail: attemptsPerEmail, perClient: attemptsPerClient, seed: maphash.MakeSeed(),
	}
	for i := range l.turns {
		l.turns[i] = make(chan struct{}, 1)
	}
	return l
}

// attempt is a counted attempt.
type attempt struct {
	// email and client are the ids of its counts; client is empty if the client is unknown.
	email, client string
}

// begin counts an attempt, or refuses it with TOO_MANY_ATTEMPTS. It checks the client's
// limit first. So a client above its limit does not use up attempts of the email address.
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

// succeeded removes the count of the email address. From the client's count it subtracts
// this attempt only, because a client that knows one password may still guess others.
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

// count adds one attempt to the count with the given id. It returns TOO_MANY_ATTEMPTS if
// the count has reached limit.
func (l *limiter) count(ctx context.Context, id string, limit int64, now, end time.Time) error {
	turn := l.turns[maphash.String(l.seed, id)%uint64(len(l.turns))]
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
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
	return fmt.Errorf("count a login attempt: %w", docstore.ErrConflict)
}

func (l *limiter) removeExpired(ctx context.Context) error {
	return removeExpired(ctx, l.attempts, l.now())
}

// attemptsID returns the id of the count of one window. Each window has its own count, so
// an old count can be removed during new attempts. The id contains a hash of the typed
// text, because a user may have typed a password into the wrong field.
func attemptsID(kind, of string, end time.Time) string {
	sum := sha256.Sum256([]byte(of))
	return kind + ":" + hex.EncodeToString(sum[:]) + "/" + strconv.FormatInt(end.Unix(), 10)
}

func tooManyAttempts(wait time.Duration) error {
	e := apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "too many login attempts; retry after %v",
		(wait + time.Second - 1).Truncate(time.Second))
	e.RetryAfter = wait
	return e
}
