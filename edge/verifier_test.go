package edge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/operation"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// heldAccount is an AccountService whose calls wait until the test answers them. Session N is that of
// user N. A call that nobody answers ends with its context.
type heldAccount struct {
	accountv1.AccountServiceClient

	mu    sync.Mutex
	calls []*heldCall
}

// heldCall is a call for sessions of these users.
type heldCall struct {
	users    string
	isShared bool
	answer   chan heldAnswer
}

type heldAnswer struct {
	// closed is the user whose session is closed; 0 for none.
	closed int64
	err    error
}

func (a heldAnswer) isOpen(session *accountv1.VerifySessionRequest) bool {
	return a.closed == 0 || a.closed != session.GetUserId()
}

func (a *heldAccount) hold(ctx context.Context, isShared bool, sessions ...*accountv1.VerifySessionRequest) (heldAnswer, error) {
	var users []string
	for _, each := range sessions {
		users = append(users, fmt.Sprint(each.GetUserId()))
	}
	call := &heldCall{strings.Join(users, " "), isShared, make(chan heldAnswer, 1)}
	a.mu.Lock()
	a.calls = append(a.calls, call)
	a.mu.Unlock()
	select {
	case answer := <-call.answer:
		return answer, answer.err
	case <-ctx.Done():
		return heldAnswer{}, status.FromContextError(ctx.Err()).Err()
	}
}

// all returns the calls so far.
func (a *heldAccount) all() []*heldCall {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.calls)
}

func (a *heldAccount) VerifySession(ctx context.Context, r *accountv1.VerifySessionRequest, _ ...grpc.CallOption) (*accountv1.VerifySessionResponse, error) {
	answer, err := a.hold(ctx, false, r)
	if err == nil && !answer.isOpen(r) {
		err = status.Error(codes.Unauthenticated, "closed")
	}
	return &accountv1.VerifySessionResponse{}, err
}

func (a *heldAccount) VerifySessions(ctx context.Context, r *accountv1.VerifySessionsRequest, _ ...grpc.CallOption) (*accountv1.VerifySessionsResponse, error) {
	answer, err := a.hold(ctx, true, r.GetSessions()...)
	if err != nil {
		return nil, err
	}
	reply := &accountv1.VerifySessionsResponse{}
	for _, each := range r.GetSessions() {
		reply.Open = append(reply.Open, answer.isOpen(each))
	}
	return reply, nil
}

// gatherer is a verifier that shares calls, and the verifications that a test has begun.
type gatherer struct {
	account  heldAccount
	verifier verifier
	results  map[int]chan error
}

func newGatherer() *gatherer {
	g := &gatherer{results: map[int]chan error{}}
	g.verifier = verifier{account: &g.account, timeout: DefaultCallTimeout, gathers: true}
	return g
}

// begin begins to verify the session of a user, and returns once that waits.
func (g *gatherer) begin(ctx context.Context, user int) {
	result := make(chan error, 1)
	g.results[user] = result
	go func() {
		result <- g.verifier.verify(ctx, operation.Session{User: operation.UserID(user), Token: demoToken})
	}()
	synctest.Wait()
}

// want fails unless the calls so far are those for these users, where a + marks a shared call.
func (g *gatherer) want(t *testing.T, calls ...string) {
	t.Helper()
	synctest.Wait()
	var got []string
	for _, call := range g.account.all() {
		users := call.users
		if call.isShared {
			users = "+" + users
		}
		got = append(got, users)
	}
	if fmt.Sprint(got) != fmt.Sprint(calls) {
		t.Fatalf("got calls %q, want %q", got, calls)
	}
}

// reason returns the reason why the session of a user is refused, "" if it is open.
func (g *gatherer) reason(user int) string {
	err := <-g.results[user]
	var failed *failure.Failure
	switch {
	case err == nil:
		return ""
	case errors.As(err, &failed):
		return failed.Reason
	}
	return status.Code(err).String()
}

func TestSessionsThatWaitForACallShareTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatherer()
		for user := range 4 {
			g.begin(t.Context(), user)
		}
		g.want(t, "0")
		g.account.all()[0].answer <- heldAnswer{closed: 1}
		g.want(t, "0", "+1 2 3")
		g.begin(t.Context(), 4) // after the call began: it may have read the session before
		g.account.all()[1].answer <- heldAnswer{closed: 2}
		g.want(t, "0", "+1 2 3", "+4")
		g.account.all()[2].answer <- heldAnswer{}
		for user, want := range []string{"", "", "LOGIN_REQUIRED", "", ""} {
			if got := g.reason(user); got != want {
				t.Errorf("user %d: got %q, want %q", user, got, want)
			}
		}
		g.begin(t.Context(), 5) // no call is in flight
		g.want(t, "0", "+1 2 3", "+4", "5")
		g.account.all()[3].answer <- heldAnswer{closed: 5}
		if got := g.reason(5); got != codes.Unauthenticated.String() {
			t.Errorf("user 5: got %q", got)
		}
	})
}

func TestACallWithoutAnAnswerDelaysOtherSessionsForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatherer()
		for user := range 3 {
			g.begin(t.Context(), user)
		}
		time.Sleep(longestGather)
		g.want(t, "0", "+1 2")
		g.begin(t.Context(), 3)
		time.Sleep(longestGather)
		g.want(t, "0", "+1 2", "+3")
		g.account.all()[2].answer <- heldAnswer{}
		if got := g.reason(3); got != "" {
			t.Errorf("user 3: got %q", got)
		}
		time.Sleep(DefaultCallTimeout)
		for user := range 3 {
			if got := g.reason(user); got != codes.DeadlineExceeded.String() {
				t.Errorf("user %d: got %q", user, got)
			}
		}
		g.begin(t.Context(), 4) // all calls have ended
		g.want(t, "0", "+1 2", "+3", "4")
		g.account.all()[3].answer <- heldAnswer{}
		if got := g.reason(4); got != "" {
			t.Errorf("user 4: got %q", got)
		}
	})
}

func TestAClientThatLeavesTakesNobodyElseAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatherer()
		first, leave := context.WithCancel(t.Context())
		g.begin(t.Context(), 0)
		g.begin(first, 1) // makes the call for all three
		g.begin(t.Context(), 2)
		second, leaveToo := context.WithCancel(t.Context())
		g.begin(second, 3)
		leave()
		leaveToo()
		if err := <-g.results[3]; !errors.Is(err, context.Canceled) {
			t.Errorf("the one who left: got %v", err)
		}
		g.account.all()[0].answer <- heldAnswer{}
		g.want(t, "0", "+1 2 3")
		g.account.all()[1].answer <- heldAnswer{}
		for _, user := range []int{0, 2} {
			if got := g.reason(user); got != "" {
				t.Errorf("user %d: got %q", user, got)
			}
		}
		<-g.results[1]
	})
}

func TestAFailedSharedCallFailsAllItsSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatherer()
		for user := range 3 {
			g.begin(t.Context(), user)
		}
		g.account.all()[0].answer <- heldAnswer{}
		g.want(t, "0", "+1 2")
		g.account.all()[1].answer <- heldAnswer{err: status.Error(codes.Unavailable, "down")}
		for user, want := range []string{"", codes.Unavailable.String(), codes.Unavailable.String()} {
			if got := g.reason(user); got != want {
				t.Errorf("user %d: got %q, want %q", user, got, want)
			}
		}
	})
}

func TestASharedCallHasNoMoreSessionsThanTheContractAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatherer()
		for user := range 2 + maxGathered {
			g.begin(t.Context(), user)
		}
		if len(g.account.all()) != 2 || len(strings.Fields(g.account.all()[1].users)) != maxGathered {
			t.Fatalf("got %d calls", len(g.account.all()))
		}
		g.account.all()[0].answer <- heldAnswer{}
		g.account.all()[1].answer <- heldAnswer{closed: maxGathered}
		synctest.Wait()
		g.account.all()[2].answer <- heldAnswer{}
		for user := range 2 + maxGathered {
			want := ""
			if user == maxGathered {
				want = "LOGIN_REQUIRED"
			}
			if got := g.reason(user); got != want {
				t.Errorf("user %d: got %q, want %q", user, got, want)
			}
		}
	})
}

func TestSessionsHaveCallsOfTheirOwnUnlessTheyAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatherer()
		g.verifier.gathers = false
		for user := range 3 {
			g.begin(t.Context(), user)
		}
		g.want(t, "0", "1", "2")
		for user, call := range g.account.all() {
			call.answer <- heldAnswer{}
			if got := g.reason(user); got != "" {
				t.Errorf("user %d: got %q", user, got)
			}
		}
	})
}
