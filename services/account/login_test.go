package account

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/apierror"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func TestAnUnknownUserCostsTheSameWorkAsAWrongPassword(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.newUser(t, "a@waybook.example", "password of a")
	s.newUser(t, "b@waybook.example", "")
	noAddress := s.newUser(t, "", "")
	b.hashed()
	today := []cost{{passes: 2, memoryKiB: 19 * 1024, lanes: 1, keyBytes: 32}}
	var words []string
	for _, email := range []string{
		"a@waybook.example", "b@waybook.example", "nobody@waybook.example", "no address", noEmailKey(noAddress),
	} {
		failed := wantFault(t, s.logIn(t.Context(), email, "a wrong password", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
		if done := b.hashed(); !slices.Equal(done, today) {
			t.Errorf("%s: the hashes cost %v, want %v", email, done, today)
		}
		words = append(words, failed.Message)
	}
	if len(slices.Compact(words)) != 1 {
		t.Errorf("the messages differ: %q", words)
	}
}

func TestConcurrentGuessesDoNotExceedTheLimitOfAnEmailAddress(t *testing.T) {
	b := newBench(t)
	servers := []*Server{b.newServer(t), b.newServer(t)}
	servers[0].newUser(t, "a@waybook.example", "password of a")
	b.hashed()
	var group sync.WaitGroup
	failures := make([]*apierror.Error, 32)
	for i := range failures {
		group.Go(func() {
			failures[i] = apierror.From(servers[i%2].logIn(t.Context(), "a@waybook.example", fmt.Sprint("guess number ", i), "client"))
		})
	}
	group.Wait()
	reasons := map[string]int{}
	for _, failed := range failures {
		reasons[failed.Reason]++
	}
	if reasons["PASSWORD_INCORRECT"] != attemptsPerEmail || reasons["TOO_MANY_ATTEMPTS"] != len(failures)-attemptsPerEmail {
		t.Errorf("got these numbers of refusals by reason: %v", reasons)
	}
	if n := len(b.hashed()); n != attemptsPerEmail {
		t.Errorf("%d guesses were hashed, want %d", n, attemptsPerEmail)
	}
	// The correct password is also refused, without a check, in any spelling of the address.
	wantFault(t, servers[1].logIn(t.Context(), "A@Waybook.Example", "password of a", "other"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	if n := len(b.hashed()); n != 0 {
		t.Errorf("%d hashes for a refused attempt", n)
	}
}

func TestAttemptsAreAllowedAgainWhenTheWindowEnds(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.logins.perEmail = 2
	s.newUser(t, "a@waybook.example", "password of a")
	b.advance(4 * time.Minute)
	for range 2 {
		wantFault(t, s.logIn(t.Context(), "a@waybook.example", "a wrong password", ""), codes.Unauthenticated, "PASSWORD_INCORRECT")
	}
	failed := wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", ""), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	if failed.RetryAfter != 11*time.Minute {
		t.Errorf("retry after %v, want 11m", failed.RetryAfter)
	}
	b.advance(failed.RetryAfter - time.Millisecond)
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", ""), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	b.advance(time.Millisecond)
	if err := s.logIn(t.Context(), "a@waybook.example", "password of a", ""); err != nil {
		t.Error(err)
	}
}

func TestASuccessfulLoginResetsTheAddressAndReturnsOneAttemptToTheClient(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.logins.perEmail, s.logins.perClient = 3, 5
	s.newUser(t, "a@waybook.example", "password of a")
	wrong := func(email string) {
		t.Helper()
		wantFault(t, s.logIn(t.Context(), email, "a wrong password", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
	}
	for range 2 { // without the reset, the second round would exceed the limit
		wrong("a@waybook.example")
		wrong("a@waybook.example")
		if err := s.logIn(t.Context(), "a@waybook.example", "password of a", "client"); err != nil {
			t.Fatal(err)
		}
	}
	// Four of the client's five attempts have failed. Its successes do not reset them.
	wrong("b@waybook.example")
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", "client"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	// Neither other clients nor the email address are affected.
	for range 3 {
		wantFault(t, s.logIn(t.Context(), "c@waybook.example", "a wrong password", "client"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	}
	wantFault(t, s.logIn(t.Context(), "c@waybook.example", "a wrong password", "other"), codes.Unauthenticated, "PASSWORD_INCORRECT")
}

func TestASweepRemovesCountsOfPastWindows(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.logins.perEmail = 1
	wrong := func() error { return s.logIn(t.Context(), "a@waybook.example", "a wrong password", "client") }
	left := func() int64 {
		t.Helper()
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		n, err := s.logins.attempts.Count(t.Context(), docstore.All(docstore.IDIndex))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	wantFault(t, wrong(), codes.Unauthenticated, "PASSWORD_INCORRECT")
	b.advance(attemptWindow - time.Millisecond)
	if n := left(); n != 2 {
		t.Errorf("%d counts are left, want both of the current window", n)
	}
	wantFault(t, wrong(), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	b.advance(attemptGrace)
	wantFault(t, wrong(), codes.Unauthenticated, "PASSWORD_INCORRECT")
	b.advance(time.Millisecond)
	if n := left(); n != 2 {
		t.Errorf("%d counts are left, want the two of the current window", n)
	}
	wantFault(t, wrong(), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
}

func TestARetriedPasswordChangeClosesTheSessionsThatItCouldNotCloseBefore(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	id := s.newUser(t, "a@waybook.example", "the old password")
	opened, err := s.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: id})
	if err != nil {
		t.Fatal(err)
	}
	open := &accountv1.VerifySessionRequest{UserId: id, Token: opened.GetToken()}
	change := &accountv1.UpdateUserRequest{UserId: id, Password: proto.String("the new password")}

	reachable := s.sessions
	unreachable := newStore(t)
	if s.sessions, err = docstore.Open[string, session](t.Context(), unreachable, sessionsSpec()); err != nil {
		t.Fatal(err)
	}
	if err := unreachable.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.UpdateUser(t.Context(), change)
	wantFault(t, err, codes.Unavailable, "STORE_UNAVAILABLE")
	s.sessions = reachable
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "the old password", ""), codes.Unauthenticated, "PASSWORD_INCORRECT")
	if _, err := s.VerifySession(t.Context(), open); err != nil {
		t.Errorf("the session is not open after the failed change: %v", err)
	}
	if _, err := s.UpdateUser(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	_, err = s.VerifySession(t.Context(), open)
	wantFault(t, err, codes.Unauthenticated, "LOGIN_REQUIRED")
}
