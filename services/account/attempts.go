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
	// attemptWindow is the length of a window. Windows begin at each full quarter of an hour.
	attemptWindow = 15 * time.Minute
	// attemptGrace is how long a count is kept after its window. It is longer than any
	// call and than the difference between clocks, so no call still uses a removed count.
	attemptGrace = 5 * time.Minute
	// countTimeout bounds how long an attempt that was judged waits until it is counted.
	countTimeout = 10 * time.Second
)

// attemptLimits bound the failed attempts in a window.
type attemptLimits struct {
	// pair is for one email address from one client address: low enough to stop guessing,
	// high enough for typing errors. The networks around an IPv6 address have limits for both
	// too (admission.Allowance), so nobody who moves within a /48 reaches the limit of the email address.
	pair int64
	// client is for one client address. Many people may share it.
	client int64
	// email is for one email address from all client addresses together. Whoever has many
	// addresses can reach it and lock the user out. So it is high. NIST SP 800-63B allows at
	// most 100 consecutive failures for an account.
	email int64
}

func defaultAttemptLimits() attemptLimits {
	return attemptLimits{pair: 10, client: 100, email: 100}
}

// limiter limits login attempts over all processes that share the store. It counts an attempt when
// the password was checked, before the reply reveals the result. So an attempt that nobody judged
// counts nowhere, and one that a crash leaves uncounted has revealed nothing.
//
// Right passwords pass the limits as wrong ones do: each changes the same counts. So the store puts
// both in one order, and concurrent attempts cannot exceed a limit. It may be used concurrently.
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

// attempt is a login attempt.
type attempt struct {
	counters []counter
	// end is the end of the window in which it began, and wait the time until then.
	end  time.Time
	wait time.Duration
}

// counter is a count of failed attempts and its limit.
type counter struct {
	id    string
	limit int64
	// clients, unless empty, have counts of their own within the count: the client, and the networks around it.
	// clientLimit is the limit of the first.
	clients     []string
	clientLimit int64
	// before is the count as it was when the attempt began, or nothing.
	before []docstore.Stored[attempts]
}

// counters returns the counts of an attempt, in the order in which they are raised: a guess that the count of
// the email address refuses counts nowhere else.
func (l *limiter) counters(from source, end time.Time) []counter {
	counters := []counter{{id: attemptsID("email", from.emailKey, end), limit: l.limits.email, clientLimit: l.limits.pair}}
	for i, network := range admission.KeysOf(from.client) {
		if i > 0 && network == "" {
			break
		}
		counters[0].clients = append(counters[0].clients, digestOf(network))
		if from.client != "" {
			counters = append(counters, counter{id: attemptsID("client", network, end), limit: l.limits.client * int64(admission.Allowance(i))})
		}
	}
	return counters
}

func (c counter) isFull(a attempts) bool {
	for i, client := range c.clients {
		if a.Clients[client] >= c.clientLimit*int64(admission.Allowance(i)) {
			return true
		}
	}
	return a.Count >= c.limit
}

func (c counter) add(a *attempts) {
	a.Count++
	for _, client := range c.clients {
		if a.Clients == nil {
			a.Clients = map[string]int64{}
		}
		a.Clients[client]++
	}
}

// forgive removes the count of the client. In the networks around it, the attempts of others stay.
func (c counter) forgive(a *attempts) {
	if len(c.clients) == 0 {
		return
	}
	mine := a.Clients[c.clients[0]]
	for _, client := range c.clients {
		if left := a.Clients[client] - mine; left > 0 {
			a.Clients[client] = left
		} else {
			delete(a.Clients, client)
		}
	}
}

// begin begins an attempt, or refuses it with TOO_MANY_ATTEMPTS before its password costs any work.
func (l *limiter) begin(ctx context.Context, from source) (attempt, error) {
	now := l.now()
	end := now.Truncate(attemptWindow).Add(attemptWindow)
	begun := attempt{counters: l.counters(from, end), end: end, wait: end.Sub(now)}
	ids := make([]string, len(begun.counters))
	for i, each := range begun.counters {
		ids[i] = each.id
	}
	found, err := l.attempts.GetStored(ctx, ids)
	if err != nil {
		return attempt{}, err
	}
	for i, each := range begun.counters {
		var a attempts
		if at := slices.IndexFunc(found, func(f docstore.Stored[attempts]) bool { return f.Document.ID == each.id }); at >= 0 {
			a, begun.counters[i].before = found[at].Document, found[at:at+1]
		}
		if each.isFull(a) {
			return attempt{}, tooManyAttempts(begun.wait)
		}
	}
	return begun, nil
}

// judged counts an attempt whose password was checked, also if the caller is gone, or refuses it with
// TOO_MANY_ATTEMPTS. Until it returns, nobody may learn the result.
func (l *limiter) judged(ctx context.Context, a attempt, isRight bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
	defer cancel()
	for _, each := range a.counters {
		change := each.add
		if isRight {
			change = each.forgive
		}
		first := attempts{ID: each.id, ExpireMillis: a.end.Add(attemptGrace).UnixMilli()}
		err := upsertFrom(ctx, l.attempts, each.before, each.id, first, func(stored *attempts) error {
			if each.isFull(*stored) {
				return tooManyAttempts(a.wait)
			}
			stored.Judged++
			change(stored)
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
	e := apierror.New(codes.ResourceExhausted, "TOO_MANY_ATTEMPTS", "too many login attempts; retry after %v",
		(wait + time.Second - 1).Truncate(time.Second))
	e.RetryAfter = wait
	return e
}
