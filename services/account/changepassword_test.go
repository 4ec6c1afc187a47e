package account

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (s *server) isVerified(ctx context.Context, user int64, token string) bool {
	_, err := s.VerifySession(ctx, &accountv1.VerifySessionRequest{UserId: user, Token: token})
	return err == nil
}

func (s *server) changePassword(ctx context.Context, user int64, token, old, changed string) error {
	_, err := s.ChangePassword(ctx, &accountv1.ChangePasswordRequest{
		ActorId: user, Token: token, OldPassword: old, NewPassword: changed, ClientAddress: "home",
	})
	return err
}

func TestAKeptSessionIsClosedAsAnyOther(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *server, *bench, int64, string){
		"by itself": func(t *testing.T, s *server, _ *bench, user int64, token string) {
			if _, err := s.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: user, Token: token}); err != nil {
				t.Fatal(err)
			}
		},
		"by a new password of the operator": func(t *testing.T, s *server, _ *bench, user int64, _ string) {
			if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: new("operator's password")}); err != nil {
				t.Fatal(err)
			}
		},
		"with its user": func(t *testing.T, s *server, _ *bench, user int64, _ string) { s.disable(t, user, true) },
		"by its time":   func(_ *testing.T, _ *server, b *bench, _ int64, _ string) { b.advance(time.Hour) },
		"as the oldest of too many": func(t *testing.T, s *server, b *bench, user int64, _ string) {
			s.maxSessions = 3
			for range s.maxSessions {
				b.advance(time.Second)
				s.open(t, user)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.newServer(t)
			user := s.newUser(t, "a@waybook.example", "first password")
			token := s.open(t, user).GetToken()
			if err := s.changePassword(t.Context(), user, token, "first password", "second password"); err != nil {
				t.Fatal(err)
			}
			end(t, s, b, user, token)
			if s.isVerified(t.Context(), user, token) {
				t.Error("it is open")
			}
		})
	}
}

// TestAStolenSessionGuessesThePasswordAsALoginDoes counts guesses by both ways together.
func TestAStolenSessionGuessesThePasswordAsALoginDoes(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	user := s.newUser(t, "a@waybook.example", "password of a")
	stolen := s.open(t, user).GetToken()
	for i := range s.logins.limits.pair {
		guess := fmt.Sprint("guess ", i)
		if i%2 == 0 {
			wantFault(t, s.logIn(t.Context(), "a@waybook.example", guess, "home"), codes.Unauthenticated, "PASSWORD_INCORRECT")
		} else {
			wantFault(t, s.changePassword(t.Context(), user, stolen, guess, "thief's password"), codes.Unauthenticated, "PASSWORD_INCORRECT")
		}
	}
	b.hashed()
	limited := wantFault(t, s.changePassword(t.Context(), user, stolen, "password of a", "thief's password"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", "home"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	if n := len(b.hashed()); n != 0 || limited.RetryAfter <= 0 {
		t.Errorf("%d passwords were checked; retry after %v", n, limited.RetryAfter)
	}
}

func TestAPasswordIsChangedByAnOpenSessionOnly(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	user, other := s.newUser(t, "a@waybook.example", "password of a"), s.newUser(t, "b@waybook.example", "password of b")
	closed := s.open(t, user).GetToken()
	if _, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user}); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{closed, s.open(t, other).GetToken(), tokenNamed("1")} {
		wantFault(t, s.changePassword(t.Context(), user, token, "password of a", "thief's password"), codes.Unauthenticated, "LOGIN_REQUIRED")
		_, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user, KeptToken: token})
		wantFault(t, err, codes.Unauthenticated, "LOGIN_REQUIRED")
	}
	if s.isVerified(t.Context(), user, closed) {
		t.Error("a closed session is open again")
	}
}

// TestASessionThatEndsDuringAChangeChangesNoPassword ends it while the new password is hashed.
func TestASessionThatEndsDuringAChangeChangesNoPassword(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	user := s.newUser(t, "a@waybook.example", "password of a")
	token := s.open(t, user).GetToken()
	s.passwords.derive = func(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte {
		if string(password) == "second password" {
			if _, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user}); err != nil {
				t.Error(err)
			}
		}
		return b.derive(password, salt, passes, memoryKiB, lanes, keyBytes)
	}
	wantFault(t, s.changePassword(t.Context(), user, token, "password of a", "second password"), codes.Unauthenticated, "LOGIN_REQUIRED")
	if err := s.logIn(t.Context(), "a@waybook.example", "password of a", "home"); err != nil || s.isVerified(t.Context(), user, token) {
		t.Errorf("the old password: %v; the session is open: %t", err, s.isVerified(t.Context(), user, token))
	}
}

// TestACrashBetweenAnyTwoWritesOfAChangeKeepsTheSessionThatAsks kills a change after each number of writes.
func TestACrashBetweenAnyTwoWritesOfAChangeKeepsTheSessionThatAsks(t *testing.T) {
	for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
		for writes := 0; ; writes++ {
			b := newBench(t)
			s := b.newServer(t)
			user := s.newUser(t, "a@waybook.example", "first password")
			asking, other := s.open(t, user).GetToken(), s.open(t, user).GetToken()
			store, process := storetest.NewMortal(b.store, writes, outcome)
			dying := (&bench{store: store, now: b.now}).newServer(t)
			err := dying.changePassword(t.Context(), user, asking, "first password", "second password")
			isChanged := s.logIn(t.Context(), "a@waybook.example", "second password", "home") == nil
			if !s.isVerified(t.Context(), user, asking) || s.isVerified(t.Context(), user, other) == isChanged {
				t.Errorf("%v, dead after %d writes: the password is changed: %t", outcome, writes, isChanged)
			}
			if !process.Died() {
				if err != nil || !isChanged {
					t.Fatal(apierror.From(err))
				}
				break
			}
		}
	}
}
