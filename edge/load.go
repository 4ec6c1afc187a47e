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
	// largeFormBytes is the size from which LargeForms limits a form. A smaller form that
	// arrives slowly costs little more than its connection.
	largeFormBytes = 64 << 10
	// largeForms is the concurrency limit of large forms. It bounds memory: each may use a few
	// times DefaultMaxFormBytes while it is read.
	largeForms = 32
	// longestWait is how long a request waits at a concurrency limit.
	longestWait = 500 * time.Millisecond
	// clientBurst and userBurst are the bursts of Clients and Users, as the time in which the
	// rate allows as many. A user may write a minute's worth at once.
	clientBurst = 10 * time.Second
	userBurst   = time.Minute
)

// Load holds the concurrency limits and rate limits of the edge. A nil limit does not limit.
type Load struct {
	// Requests limits the requests in flight: the form has been read, the reply is being made.
	// LongReplies limits the replies that are sent in pieces, as fast as clients read them.
	// LargeForms limits the large forms that are being read. A request holds a place in Requests
	// or in LongReplies, never in both.
	Requests, LongReplies, LargeForms *admission.Gate
	// ClientLongReplies limits the long replies of an address.
	ClientLongReplies *admission.PerKey
	// Clients limits the rate of requests per address, Users the rate of writes per user.
	Clients, Users *ratelimit.Limiter
}

// newLoad returns a Load with the limits of the flags.
func newLoad(f *Flags) Load {
	return Load{
		Requests:          admission.New(admission.Limits{Places: f.MaxRequests, Queue: f.MaxRequests, Wait: longestWait}),
		LongReplies:       admission.New(admission.Limits{Places: f.MaxLongReplies}),
		LargeForms:        admission.New(admission.Limits{Places: largeForms, Queue: largeForms, Wait: longestWait}),
		ClientLongReplies: admission.NewPerKey(f.ClientLongReplies),
		Clients:           ratelimit.New(f.ClientRate, clientBurst, time.Now),
		Users:             ratelimit.New(f.UserWrites/60, userBurst, time.Now),
	}
}

// refuseClient rejects a request of an address that exceeds its rate limit.
func (l *Load) refuseClient(proxies TrustedProxies, r *http.Request) error {
	if l.Clients == nil {
		return nil
	}
	key := clientKey(proxies.client(r))
	if key == "" {
		return nil // a Unix socket: its clients have no addresses to count by
	}
	return tooOften("TOO_MANY_REQUESTS", l.Clients.Take(key))
}

// refuseUser rejects a request of a user who exceeds the rate limit of writes. Call it only
// after the session check. Otherwise anybody could use up the rate of another user with an
// invented cookie.
func (l *Load) refuseUser(user operation.UserID) error {
	return tooOften("TOO_MANY_WRITES", l.Users.Take(strconv.FormatInt(int64(user), 10)))
}

func tooOften(reason string, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	f := failure.New(reason)
	f.Kind, f.RetryAfter = failure.TooMany, wait
	return f
}

// turn holds the places that one request takes under the concurrency limits.
type turn struct {
	load *Load
	// address returns the key of the client, or "" if it has none.
	address func() string
	isBegun bool
	isLong  bool
	isLarge bool
	// client is the key that holds a place in ClientLongReplies, or "".
	client string
}

// begin waits for a place in Requests.
func (t *turn) begin(ctx context.Context) error {
	if err := t.load.Requests.Enter(ctx); err != nil {
		return err
	}
	t.isBegun = true
	return nil
}

// goLong moves the request from Requests to LongReplies, if there is a place for this client.
func (t *turn) goLong() error {
	if t.isLong {
		return nil
	}
	client := t.address()
	if client != "" && !t.load.ClientLongReplies.TryEnter(client) {
		return failure.Temporary("TOO_MANY_LONG_REPLIES", failure.TooMany, nil)
	}
	t.client = client
	if !t.load.LongReplies.TryEnter() {
		t.leaveClient()
		return admission.ErrFull
	}
	t.isLong = true
	if t.isBegun {
		t.load.Requests.Leave()
		t.isBegun = false
	}
	return nil
}

func (t *turn) leaveClient() {
	if t.client != "" {
		t.load.ClientLongReplies.Leave(t.client)
		t.client = ""
	}
}

// growLarge waits for a place in LargeForms.
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

// end releases all places of the request.
func (t *turn) end() {
	if t.isBegun {
		t.load.Requests.Leave()
	}
	if t.isLong {
		t.load.LongReplies.Leave()
		t.leaveClient()
	}
	if t.isLarge {
		t.load.LargeForms.Leave()
	}
	*t = turn{load: t.load, address: t.address}
}
