package account

import (
	"context"
	"errors"
	"strconv"
	"sync"
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
	return &limiter{attempts: attempts, now: now, limits: defaultAttemptLimits(), turns: &turns{}}
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
	// client, unless empty, has a count and a limit of its own within the count.
	client      string
	clientLimit int64
	// isForgiven: a success removes the whole count. Otherwise it takes back its own attempt and
	// removes the count of the client. The rest are attempts of others, or on other users.
	isForgiven bool
}

// counters returns the counts of an attempt, in the order in which they are checked.
func (l *limiter) counters(from source, end time.Time) []counter {
	if from.device != "" {
		return []counter{{id: attemptsID("device", from.device, end), limit: l.limits.device, isForgiven: true}}
	}
	email := counter{
		id: attemptsID("email", from.emailKey, end), limit: l.limits.email,
		client: digestOf(from.client), clientLimit: l.limits.pair,
	}
	if from.client == "" {
		return []counter{email}
	}
	return []counter{{id: attemptsID("client", from.client, end), limit: l.limits.client}, email}
}

func (c counter) isFull(a attempts) bool {
	return a.Count >= c.limit || c.client != "" && a.Clients[c.client] >= c.clientLimit
}

func (c counter) add(a *attempts) {
	a.Count++
	if c.client == "" {
		return
	}
	if a.Clients == nil {
		a.Clients = map[string]int64{}
	}
	a.Clients[c.client]++
}

// takeBack undoes add. It leaves no count below 0 of a client whose count a success removed.
func (c counter) takeBack(a *attempts) {
	a.Count--
	if a.Clients[c.client] > 1 {
		a.Clients[c.client]--
	} else {
		delete(a.Clients, c.client)
	}
}

func (c counter) forgive(a *attempts) {
	a.Count--
	delete(a.Clients, c.client)
}

// begin counts an attempt, or refuses it with TOO_MANY_ATTEMPTS. It returns the counts.
//
// A client at a limit of its own takes nothing from an email address. So begin reads all counts
// before it raises one. If others reach a limit meanwhile, it takes back what it has counted.
func (l *limiter) begin(ctx context.Context, from source) ([]counter, error) {
	now := l.now()
	end := now.Truncate(attemptWindow).Add(attemptWindow)
	counted := l.counters(from, end)
	before, err := l.read(ctx, counted)
	if err != nil {
		return nil, err
	}
	for _, each := range counted {
		var a attempts
		if stored := before[each.id]; len(stored) > 0 {
			a = stored[0].Document
		}
		if each.isFull(a) {
			return nil, tooManyAttempts(end.Sub(now))
		}
	}
	steps, isCounted := make([]func() error, len(counted)), make([]bool, len(counted))
	for i, each := range counted {
		steps[i] = func() error {
			err := l.count(ctx, each, before[each.id], now, end)
			isCounted[i] = err == nil
			return err
		}
	}
	if err = l.attempts.Together(steps...); err == nil {
		return counted, nil
	}
	var unjudged []counter
	for i, each := range counted {
		if isCounted[i] {
			unjudged = append(unjudged, each)
		}
	}
	return nil, errors.Join(err, l.takeBack(ctx, unjudged))
}

// takeBack takes back an attempt that was counted and not judged, also if the caller is gone.
func (l *limiter) takeBack(ctx context.Context, counted []counter) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	for _, each := range counted {
		err = errors.Join(err, l.change(ctx, each, each.takeBack))
	}
	return err
}

// read returns the counts that there are, by their ids. That of a device is mostly missing, because
// a success removes it, so read leaves it out.
func (l *limiter) read(ctx context.Context, counters []counter) (map[string][]docstore.Stored[attempts], error) {
	var ids []string
	for _, each := range counters {
		if !each.isForgiven {
			ids = append(ids, each.id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := l.attempts.GetDurable(ctx, ids)
	all := map[string][]docstore.Stored[attempts]{}
	for _, each := range found {
		all[each.Document.ID] = []docstore.Stored[attempts]{each}
	}
	return all, err
}

// count adds one attempt to a count.
func (l *limiter) count(ctx context.Context, to counter, before []docstore.Stored[attempts], now, end time.Time) error {
	done, err := l.turns.take(ctx, to.id)
	if err != nil {
		return err
	}
	defer done()
	first := attempts{ID: to.id, ExpireMillis: end.Add(attemptGrace).UnixMilli()}
	return upsertFrom(ctx, l.attempts, before, to.id, first, func(a *attempts) error {
		if to.isFull(*a) {
			return tooManyAttempts(end.Sub(now))
		}
		to.add(a)
		return nil
	})
}

// succeeded takes an attempt back that was counted.
func (l *limiter) succeeded(ctx context.Context, counted []counter) error {
	all := make([]func() error, len(counted))
	for i, each := range counted {
		all[i] = func() (err error) {
			if !each.isForgiven {
				return l.change(ctx, each, each.forgive)
			}
			if err = l.attempts.Delete(ctx, each.id); errors.Is(err, docstore.ErrNotFound) {
				return nil
			}
			return err
		}
	}
	return l.attempts.Together(all...)
}

// change changes a count, unless a sweep has removed it.
func (l *limiter) change(ctx context.Context, of counter, change func(*attempts)) error {
	done, err := l.turns.take(ctx, of.id)
	if err != nil {
		return err
	}
	defer done()
	_, err = l.attempts.Update(ctx, of.id, func(a *attempts) error {
		change(a)
		return nil
	})
	if errors.Is(err, docstore.ErrNotFound) {
		return nil
	}
	return err
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

// turns are locks of keys. Callers that change one document take turns. Otherwise many of them at once
// would change it against each other and run into their deadlines. The store still decides between
// processes. The zero value has no turn taken. Turns may be used concurrently.
type turns struct {
	mu sync.Mutex
	// of has the keys whose turn somebody has or waits for.
	of map[string]*turn
}

type turn struct {
	taken chan struct{}
	// callers are those that have the turn or wait for it.
	callers int
}

// take waits for the turn of a key. The caller ends it by calling end.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
	t.mu.Lock()
	if t.of == nil {
		t.of = map[string]*turn{}
	}
	mine := t.of[key]
	if mine == nil {
		mine = &turn{taken: make(chan struct{}, 1)}
		t.of[key] = mine
	}
	mine.callers++
	t.mu.Unlock()
	select {
	case mine.taken <- struct{}{}:
		return func() {
			<-mine.taken
			t.leave(key, mine)
		}, nil
	case <-ctx.Done():
		t.leave(key, mine)
		return nil, ctx.Err()
	}
}

// leave forgets a key that nobody has or waits for.
func (t *turns) leave(key string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.callers--; mine.callers == 0 {
		delete(t.of, key)
	}
}
