package account

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func TestAClockStepClosesASessionOnlyIfItPassesTheExpiryTime(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	user := s.newUser(t, "", "")
	opened, err := s.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user})
	if err != nil {
		t.Fatal(err)
	}
	// The session lasts one hour. No sweep removes it before its expiry time.
	for _, step := range []struct {
		by   time.Duration
		want codes.Code
	}{
		{-24 * time.Hour, codes.OK},
		{24*time.Hour + 59*time.Minute, codes.OK},
		{-30 * time.Minute, codes.OK},
		{2 * time.Hour, codes.Unauthenticated},
	} {
		b.advance(step.by)
		if step.want == codes.OK {
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: opened.GetToken()})
		if status.Code(err) != step.want {
			t.Errorf("after a step of %v: %v, want %v", step.by, err, step.want)
		}
	}
}

func TestAClockStepNeitherLocksAnAddressForeverNorUnlocksItEarly(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	const email = "x@waybook.example"
	s.newUser(t, email, "password")
	for n := range s.logins.limits.email {
		if err := s.logIn(t.Context(), email, "wrong", fmt.Sprint(n)); status.Code(err) != codes.Unauthenticated {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		by   time.Duration
		want codes.Code
	}{
		{0, codes.ResourceExhausted},
		// A window in the past has its own count.
		{-attemptWindow, codes.Unauthenticated},
		// The count of the first window still exists when the clock is correct again.
		{attemptWindow, codes.ResourceExhausted},
		// The next window starts at zero.
		{attemptWindow, codes.Unauthenticated},
	} {
		b.advance(step.by)
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.logIn(t.Context(), email, "wrong", "client"); status.Code(err) != step.want {
			t.Errorf("after a step of %v: %v, want %v", step.by, err, step.want)
		}
	}
}

// TestAProcessWhoseClockIsAheadRemovesNothingThatOthersNeed lets it sweep.
func TestAProcessWhoseClockIsAheadRemovesNothingThatOthersNeed(t *testing.T) {
	b := newBench(t)
	s := b.newServerOf(t, Config{Sessions: SessionLife{Total: time.Hour}})
	user := s.newUser(t, "a@waybook.example", "password of a")
	opened := s.open(t, user)
	s.logins.limits.pair = 1
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "wrong", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
	ahead := &bench{store: b.store, now: b.clock().Add(365 * 24 * time.Hour)}
	if err := ahead.newServer(t).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.verifySession(t, opened); err != nil {
		t.Errorf("the session: %v", err)
	}
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", "client"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
}
