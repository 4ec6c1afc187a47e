package account

import (
	"context"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/apierror"
)

const (
	// attemptWindow is the length of a window of login attempts, and registrationWindow that of a
	// window of attempts to register. Windows begin at each full quarter of an hour, and at each
	// full hour.
	attemptWindow      = 15 * time.Minute
	registrationWindow = time.Hour
	// attemptGrace is how long a count is kept after its window. It is longer than any
	// call and than the difference between clocks, so no call still uses a removed count.
	attemptGrace = 5 * time.Minute
	// countTimeout bounds how long an attempt that was judged waits until it is counted.
	countTimeout = 10 * time.Second
)

// attemptLimits bound the failed logins in a window, and the attempts to register. The networks
// around an IPv6 address may have more of each, so that neighbours have room, but not for each of
// their addresses (admission.Allowance).
type attemptLimits struct {
	// pair is for one email address from one client: low enough to stop guessing, high enough for
	// typing errors.
	pair int64
	// client is for one client address. Many people may share it.
	client int64
	// email is for one email address from all clients together. A client with many addresses can
	// reach it and lock the user out, so it is high. NIST SP 800-63B allows at most 100
	// consecutive failures for an account.
	email int64
	// registrations is for attempts to register from one client address in an hour, failed or not,
	// and registrationsInAll for those of all; 0 for none.
	registrations, registrationsInAll int64
}

func defaultAttemptLimits() attemptLimits {
	return attemptLimits{pair: 10, client: 100, email: 100}
}

// limiter limits attempts to log in and to register over all processes that share the store. It
// counts a login when the password was checked, before the reply reveals the result. So an attempt
// that was not judged counts nowhere, and one that a crash leaves uncounted has revealed nothing.
//
// Right passwords pass the limits as wrong ones do: each changes the same documents. So the store
// puts both in one order, and concurrent attempts cannot exceed a limit. It may be used
// concurrently.
type limiter struct {
	attempts *docstore.Collection[string, attempts]
	now      func() time.Time
	limits   attemptLimits
}

func newLimiter(attempts *docstore.Collection[string, attempts], now func() time.Time) *limiter {
	return &limiter{attempts: attempts, now: now, limits: defaultAttemptLimits()}
}

// source says whose attempt it is.
type source struct {
	// emailKey is the email address. client is the client's address; empty if unknown.
	emailKey, client string
}

// attempt is an attempt to log in or to register.
type attempt struct {
	// counters are raised in this order: an attempt that one refuses counts in none of those after
	// it.
	counters []counter
	// pair is the key of the client in the count of the email address; empty if there is none.
	pair string
	// end is the end of the window in which it began, and wait the time until then.
	end  time.Time
	wait time.Duration
}

// counter is what an attempt raises in one document.
type counter struct {
	id string
	// limits are those of all attempts, and of the client and the networks around it, by their
	// keys in the document.
	limits map[string]int64
	// before is the document as it was when the attempt began, or nothing.
	before []docstore.Stored[attempts]
}

// everybody is the key of all attempts for an email address.
const everybody = "all"

func (c counter) isFull(a attempts) bool {
	for key, limit := range c.limits {
		if a.Failed[key] >= limit {
			return true
		}
	}
	return false
}

func (c counter) raise(a *attempts) {
	if a.Failed == nil {
		a.Failed = map[string]int64{}
	}
	for key := range c.limits {
		a.Failed[key]++
	}
}

// login returns a login attempt that begins now.
func (l *limiter) login(from source) attempt {
	a := l.within(attemptWindow)
	email := counter{id: attemptsID("email", from.emailKey, a.end),
		limits: map[string]int64{everybody: l.limits.email}}
	for i, network := range admission.KeysOf(from.client) {
		key := digestOf(network)
		email.limits[key] = l.limits.pair * int64(admission.Allowance(i))
		if i == 0 {
			a.pair = key
		}
	}
	a.counters = append(a.counters, email)
	if from.client != "" {
		a.counters = append(a.counters, clientCounter("client", from.client, a.end, l.limits.client))
	}
	return a
}

// within returns an attempt without counters that begins now, in a window of a length.
func (l *limiter) within(window time.Duration) attempt {
	now := l.now()
	end := now.Truncate(window).Add(window)
	return attempt{end: end, wait: end.Sub(now)}
}

// clientCounter counts attempts of a kind from a client and the networks around it.
func clientCounter(kind, client string, end time.Time, limit int64) counter {
	c := counter{limits: map[string]int64{}}
	for i, network := range admission.KeysOf(client) {
		c.limits[digestOf(network)] = limit * int64(admission.Allowance(i))
		c.id = attemptsID(kind, network, end) // in the end that of the widest network
	}
	return c
}

// takeRegistration counts an attempt to register before anything is done for it, or refuses it
// with TOO_MANY_ATTEMPTS. It raises the count of the client first: a client at its limit uses up
// nothing that is left for others.
func (l *limiter) takeRegistration(ctx context.Context, client string) error {
	now := l.within(registrationWindow)
	if client != "" && l.limits.registrations > 0 {
		now.counters = append(now.counters, clientCounter("registration", client, now.end, l.limits.registrations))
	}
	if l.limits.registrationsInAll > 0 {
		now.counters = append(now.counters, counter{
			id:     attemptsID("registrations", everybody, now.end),
			limits: map[string]int64{everybody: l.limits.registrationsInAll},
		})
	}
	begun, err := l.look(ctx, now)
	if err != nil {
		return err
	}
	return l.judged(ctx, begun, false)
}

// begin begins a login attempt, or refuses it with TOO_MANY_ATTEMPTS before its password costs any
// work.
func (l *limiter) begin(ctx context.Context, from source) (attempt, error) {
	return l.look(ctx, l.login(from))
}

// look refuses an attempt with TOO_MANY_ATTEMPTS if a count is full.
func (l *limiter) look(ctx context.Context, begun attempt) (attempt, error) {
	ids := make([]string, len(begun.counters))
	for i, each := range begun.counters {
		ids[i] = each.id
	}
	found, err := l.attempts.GetStored(ctx, ids)
	if err != nil {
		return attempt{}, err
	}
	for i, each := range begun.counters {
		of := func(stored docstore.Stored[attempts]) bool { return stored.Document.ID == each.id }
		if at := slices.IndexFunc(found, of); at >= 0 {
			begun.counters[i].before = found[at : at+1]
			if each.isFull(found[at].Document) {
				return attempt{}, tooManyAttempts(begun.wait)
			}
		}
	}
	return begun, nil
}

// judged counts an attempt whose password was checked, also if the caller is gone, or refuses it
// with TOO_MANY_ATTEMPTS. Until it returns, the result is not revealed. A right password resets
// the count of its client for the email address.
func (l *limiter) judged(ctx context.Context, a attempt, isRight bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
	defer cancel()
	for i, each := range a.counters {
		first := attempts{ID: each.id, ExpireMillis: a.end.Add(attemptGrace).UnixMilli()}
		err := upsertFrom(ctx, l.attempts, each.before, each.id, first, func(stored *attempts) error {
			if each.isFull(*stored) {
				return tooManyAttempts(a.wait)
			}
			stored.Judged++
			switch {
			case isRight && i == 0:
				delete(stored.Failed, a.pair)
			case !isRight:
				each.raise(stored)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// attemptsID returns the id of the count of one window. Each window has its own count, so
// an old count can be removed during new attempts. The id contains a hash of the typed
// text, because a user may have typed a password into the wrong field.
func attemptsID(kind, of string, end time.Time) string {
	return kind + ":" + digestOf(of) + "/" + strconv.FormatInt(end.Unix(), 10)
}

func tooManyAttempts(wait time.Duration) error {
	e := apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "too many attempts; retry after %v",
		(wait + time.Second - 1).Truncate(time.Second))
	e.RetryAfter = wait
	return e
}
