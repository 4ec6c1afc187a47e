package edge

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/ratelimit"
)

const (
	// largeFormBytes is from where on a form takes a place among the large ones. Below
	// it, what clients send slowly costs little more than their connections.
	largeFormBytes = 64 << 10
	// largeForms bounds the memory of large forms: each may take a few times
	// DefaultMaxFormBytes until it has been read.
	largeForms = 32
	// longestWait is how long a request waits for its turn.
	longestWait = 500 * time.Millisecond
)

// Load is how much is done at a time and for whom. Of what is nil there is no bound.
type Load struct {
	// Requests are those whose form has been read and whose reply is being made.
	// LongReplies are being sent in pieces, at their readers' pace. LargeForms are
	// being read. A request is one of the first or of the second at a time.
	Requests, LongReplies, LargeForms *admission.Gate
	// Clients bounds how often an address may ask, Users how often a user may write.
	Clients, Users *ratelimit.Limiter
}

// newLoad returns a load of the given bounds, 0 for none; rates are per second.
func newLoad(requests, longReplies int, clientRate, userRate float64) Load {
	return Load{
		Requests:    admission.New(admission.Limits{Places: requests, Queue: requests, Wait: longestWait}),
		LongReplies: admission.New(admission.Limits{Places: longReplies}),
		LargeForms:  admission.New(admission.Limits{Places: largeForms, Queue: largeForms, Wait: longestWait}),
		Clients:     ratelimit.New(clientRate, time.Now),
		Users:       ratelimit.New(userRate, time.Now),
	}
}

// refuseClient refuses a request of an address that asks too often.
func (l *Load) refuseClient(proxies TrustedProxies, r *http.Request) error {
	if l.Clients == nil {
		return nil
	}
	key := clientKey(proxies.client(r))
	if key == "" {
		return nil // a Unix socket's: whoever is behind it can't be told apart
	}
	return tooOften(l.Clients.Take(key))
}

// refuseUser refuses a request of a user who writes too often. It is asked only about
// users whose session is open: by a cookie that is made up, anybody could use up what
// others may do.
func (l *Load) refuseUser(user operation.UserID) error {
	return tooOften(l.Users.Take(strconv.FormatInt(int64(user), 10)))
}

func tooOften(wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	f := failure.New("TOO_MANY_REQUESTS")
	f.Kind, f.RetryAfter = failure.TooMany, wait
	return f
}

// turn is the place that one request has among others.
type turn struct {
	load    *Load
	isBegun bool
	isLong  bool
	isLarge bool
}

// begin waits until the request's turn comes.
func (t *turn) begin(ctx context.Context) error {
	if err := t.load.Requests.Enter(ctx); err != nil {
		return err
	}
	t.isBegun = true
	return nil
}

// goLong says that the reply is to be sent in pieces, and reports whether it may be.
func (t *turn) goLong() bool {
	if t.isLong {
		return true
	}
	if !t.load.LongReplies.TryEnter() {
		return false
	}
	t.isLong = true
	if t.isBegun {
		t.load.Requests.Leave()
		t.isBegun = false
	}
	return true
}

// growLarge says that the form is a large one.
func (t *turn) growLarge(ctx context.Context) error {
	if t.isLarge {
		return nil
	}
	if err := t.load.LargeForms.Enter(ctx); err != nil {
		return err
	}
	t.isLarge = true
	return nil
}

// end gives back what the request has.
func (t *turn) end() {
	if t.isBegun {
		t.load.Requests.Leave()
	}
	if t.isLong {
		t.load.LongReplies.Leave()
	}
	if t.isLarge {
		t.load.LargeForms.Leave()
	}
	*t = turn{load: t.load}
}
