package edge

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/operation"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

const (
	// longestGather bounds the wait for a call in flight. A service that does not answer delays only
	// those who asked it.
	longestGather = time.Millisecond
	// maxGathered is the most sessions of one call that the contract allows.
	maxGathered = 64
)

// verifier asks AccountService whether sessions are open. It never remembers an answer: the service
// reads each session after the request that needs it. A session that comes while a call is in flight
// waits for its end, at most longestGather, and shares the next call with all others that wait
// (docs/decisions/edge.md). It may be used concurrently.
type verifier struct {
	account accountv1.AccountServiceClient
	timeout time.Duration
	// gathers makes sessions share calls. Otherwise each has a call of its own.
	gathers bool

	mu sync.Mutex
	// inFlight is the number of calls.
	inFlight int
	// next gathers the sessions of the next call; nil if none waits.
	next *gathering
}

// gathering is the sessions of one call.
type gathering struct {
	sessions []*accountv1.VerifySessionRequest
	// begun is closed when the call may begin. The first who joined makes the call.
	begun chan struct{}
	// done is closed when open and err are set.
	done chan struct{}
	open []bool
	err  error
}

// verify fails unless the session is open.
func (v *verifier) verify(ctx context.Context, session operation.Session) error {
	asked := &accountv1.VerifySessionRequest{UserId: int64(session.User), Token: session.Token}
	if !v.gathers {
		return v.ask(ctx, asked)
	}
	v.mu.Lock()
	if v.inFlight == 0 {
		v.inFlight++
		v.mu.Unlock()
		defer v.end()
		return v.ask(ctx, asked)
	}
	joined, place := v.join(asked)
	v.mu.Unlock()
	if place == 0 {
		v.lead(ctx, joined)
	}
	select {
	case <-joined.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case joined.err != nil:
		return joined.err
	case !joined.open[place]:
		return failure.New("LOGIN_REQUIRED")
	}
	return nil
}

// join adds a session to the next call. The caller holds the lock.
func (v *verifier) join(asked *accountv1.VerifySessionRequest) (g *gathering, place int) {
	if v.next == nil {
		v.next = &gathering{begun: make(chan struct{}), done: make(chan struct{})}
	}
	g, place = v.next, len(v.next.sessions)
	g.sessions = append(g.sessions, asked)
	if len(g.sessions) == maxGathered {
		v.inFlight++
		v.begin()
	}
	return g, place
}

// begin lets the next call begin. The caller holds the lock, and has counted the call.
func (v *verifier) begin() {
	close(v.next.begun)
	v.next = nil
}

// end counts a call as ended. If sessions wait, their call takes its place.
func (v *verifier) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.next != nil {
		v.begin()
		return
	}
	v.inFlight--
}

// lead makes the call of a gathering, also when its own client leaves: others wait for it.
func (v *verifier) lead(ctx context.Context, g *gathering) {
	late := time.NewTimer(longestGather)
	defer late.Stop()
	select {
	case <-g.begun:
	case <-late.C:
		v.mu.Lock()
		if v.next == g {
			v.inFlight++
			v.begin()
		}
		v.mu.Unlock()
	}
	defer v.end()
	defer close(g.done)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.timeout)
	defer cancel()
	reply, err := v.account.VerifySessions(ctx, &accountv1.VerifySessionsRequest{Sessions: g.sessions})
	g.open, g.err = reply.GetOpen(), err
	if err == nil && len(g.open) != len(g.sessions) {
		g.err = status.Errorf(codes.Internal, "got %d answers for %d sessions", len(g.open), len(g.sessions))
	}
}

// ask makes a call for one session.
func (v *verifier) ask(ctx context.Context, asked *accountv1.VerifySessionRequest) error {
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	_, err := v.account.VerifySession(ctx, asked)
	return err
}
