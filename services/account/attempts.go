package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	// attemptGrace is how long a count is kept after its window. It is longer than any
	// call and than the difference between clocks, so no call still uses a removed count.
	attemptGrace = 5 * time.Minute
)

// attemptLimits bound the failed attempts in a window.
type attemptLimits struct {
	// pair is for one email address from one client address: low enough to stop guessing,
	// high enough for typing errors.
	pair int64
	// client is for one client address. Many people may share it.
	client int64
	// email is for one email address from all client addresses together. Whoever has many
	// addresses can reach it, and then only known devices may still log in. So it is high.
	// NIST SP 800-63B allows at most 100 consecutive failures for an account.
	email int64
	// device is for a known device, which has no other limit.
	device int64
}

func defaultAttemptLimits() attemptLimits {
	return attemptLimits{pair: 10, client: 100, email: 100, device: 10}
}

// limiter limits login attempts over all processes that share the store. It counts an
// attempt before the password is checked, so concurrent attempts cannot exceed a limit.
// It may be used concurrently.
type limiter struct {
	attempts *docstore.Collection[string, attempts]
	now      func() time.Time
	limits   attemptLimits
	turns    *turns
}

func newLimiter(attempts *docstore.Collection[string, attempts], now func() time.Time) *limiter {
	return &limiter{attempts: attempts, now: now, limits: defaultAttemptLimits(), turns: newTurns()}
}

// source says whose attempt it is.
type source struct {
	// emailKey is the email address. client is the client's address; empty if unknown.
	emailKey, client string
	// device is the id of a device that the user has logged in from; empty if there is none.
	device string
}

// counter is a count of attempts and its limit.
type counter struct {
	id    string
	limit int64
	// isForgiven: a success removes the whole count. Otherwise it takes back its own attempt
	// only, because the count includes attempts of others, or on other users.
	isForgiven bool
}

// counters returns the counts of an attempt, in the order in which they are checked. The
// first limit that is reached ends the attempt, and it uses up nothing of the limits behind
// it. So a client above a limit of its own takes nothing from an email address.
func (l *limiter) counters(from source, end time.Time) []counter {
	if from.device != "" {
		return []counter{{attemptsID("device", from.device, end), l.limits.device, true}}
	}
	pair := strconv.Itoa(len(from.emailKey)) + " " + from.emailKey + " " + from.client
	all := []counter{
		{attemptsID("pair", pair, end), l.limits.pair, true},
		{attemptsID("email", from.emailKey, end), l.limits.email, false},
	}
	if from.client != "" {
		all = append([]counter{{attemptsID("client", from.client, end), l.limits.client, false}}, all...)
	}
	return all
}

// begin counts an attempt, or refuses it with TOO_MANY_ATTEMPTS. It returns the counts.
func (l *limiter) begin(ctx context.Context, from source) ([]counter, error) {
	now := l.now()
	end := now.Truncate(attemptWindow).Add(attemptWindow)
	counted := l.counters(from, end)
	for _, each := range counted {
		if err := l.count(ctx, each, now, end); err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// count adds one attempt to a count.
func (l *limiter) count(ctx context.Context, to counter, now, end time.Time) error {
	done, err := l.turns.take(ctx, to.id)
	if err != nil {
		return err
	}
	defer done()
	first := attempts{ID: to.id, ExpireMillis: end.Add(attemptGrace).UnixMilli()}
	return upsert(ctx, l.attempts, to.id, first, func(a *attempts) error {
		if a.Count >= to.limit {
			return tooManyAttempts(end.Sub(now))
		}
		a.Count++
		return nil
	})
}

// succeeded takes an attempt back that was counted.
func (l *limiter) succeeded(ctx context.Context, counted []counter) error {
	for _, each := range counted {
		if err := l.takeBack(ctx, each); err != nil && !errors.Is(err, docstore.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (l *limiter) takeBack(ctx context.Context, from counter) error {
	if from.isForgiven {
		return l.attempts.Delete(ctx, from.id)
	}
	done, err := l.turns.take(ctx, from.id)
	if err != nil {
		return err
	}
	defer done()
	_, err = l.attempts.Update(ctx, from.id, func(a *attempts) error {
		a.Count--
		return nil
	})
	return err
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

// turns are locks, each for a part of the keys. Callers that change one document take turns.
// Otherwise many of them at once would change it against each other and run into their
// deadlines. The store still decides between processes. Turns may be used concurrently.
type turns struct {
	locks [64]chan struct{}
	seed  maphash.Seed
}

func newTurns() *turns {
	t := &turns{seed: maphash.MakeSeed()}
	for i := range t.locks {
		t.locks[i] = make(chan struct{}, 1)
	}
	return t
}

// take waits for the turn of a key. The caller ends it by calling end.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
	lock := t.locks[maphash.String(t.seed, key)%uint64(len(t.locks))]
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
