package account

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// hookInsert calls before and after with the first insert of a session.
func (b *bench) hookInsert(t *testing.T, before, after func()) *server {
	t.Helper()
	isOver := false
	hooked := &storetest.Hooked{Engine: b.store, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if call != (storetest.Call{Collection: "sessions", Verb: "insert"}) || isOver {
			return do()
		}
		isOver = true
		before()
		err := do()
		after()
		return err
	}}
	return (&bench{store: hooked, now: b.now}).newServer(t)
}

func TestASessionIsClosedByWhatHappensToItsUserWhileItIsOpened(t *testing.T) {
	for name, happen := range map[string]func(t *testing.T, s *server, user int64){
		"a new password": func(t *testing.T, s *server, user int64) {
			t.Helper()
			if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: proto.String("the new one")}); err != nil {
				t.Fatal(err)
			}
		},
		"all sessions are closed": func(t *testing.T, s *server, user int64) {
			t.Helper()
			if _, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user}); err != nil {
				t.Fatal(err)
			}
		},
		"disabled": func(t *testing.T, s *server, user int64) {
			t.Helper()
			s.disable(t, user, true)
		},
		"disabled and enabled": func(t *testing.T, s *server, user int64) {
			t.Helper()
			s.disable(t, user, true)
			s.disable(t, user, false)
		},
		"deleted": func(t *testing.T, s *server, user int64) {
			t.Helper()
			s.disable(t, user, true)
			if _, err := s.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: user}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, isLogin := range []bool{false, true} {
			for _, isBefore := range []bool{true, false} {
				t.Run(fmt.Sprint(name, ", by a login ", isLogin, ", before the insert ", isBefore), func(t *testing.T) {
					eachWay(t, func(t *testing.T, b *bench) {
						s := b.newServer(t)
						user := s.newUser(t, "a@waybook.example", "the old one")
						steps := []func(){func() { happen(t, s, user) }, func() {}}
						if !isBefore {
							slices.Reverse(steps)
						}
						token, err := b.hookInsert(t, steps[0], steps[1]).openBy(t, user, isLogin)
						if err == nil {
							err = s.verifySession(t, &accountv1.VerifySessionRequest{UserId: user, Token: token})
						} else if n := count(t, s.sessions); n != 0 {
							t.Errorf("%d sessions are left of a refusal", n)
						}
						if reason := apierror.From(err).Reason; reason != "LOGIN_REQUIRED" && (reason != "USER_NOT_FOUND" || name != "deleted") {
							t.Errorf("got %v", err)
						}
						if err := s.Sweep(t.Context()); err != nil {
							t.Fatal(err)
						}
						if n := count(t, s.sessions); name == "deleted" && n != 0 {
							t.Errorf("%d sessions outlive their user", n)
						} else if name != "deleted" && len(s.list(t, user)) != 0 {
							t.Error("the session is listed")
						}
					})
				})
			}
		}
	}
}

// openBy opens a session of a user with the password of the test, or without a password.
func (s *server) openBy(t *testing.T, user int64, isLogin bool) (token string, err error) {
	t.Helper()
	if !isLogin {
		reply, err := s.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user})
		return reply.GetToken(), err
	}
	reply, err := s.Authenticate(t.Context(), &accountv1.AuthenticateRequest{Email: "a@waybook.example", Password: "the old one"})
	return reply.GetToken(), err
}

func TestNothingIsLeftOfASessionThatIsRefused(t *testing.T) {
	eachWay(t, func(t *testing.T, b *bench) {
		s := b.newServer(t)
		owner, disabled := s.newUser(t, "", ""), s.newUser(t, "", "")
		s.disable(t, disabled, true)
		for _, refused := range []struct {
			owner, generation int64
			kind              codes.Code
			reason            string
		}{
			{owner, 7, codes.Unauthenticated, "LOGIN_REQUIRED"},
			{disabled, 1, codes.Unauthenticated, "LOGIN_REQUIRED"},
			{1, 0, codes.NotFound, "USER_NOT_FOUND"},
		} {
			checked := user{ID: refused.owner, CredentialGeneration: refused.generation}
			_, _, err := s.newSession(t.Context(), refused.owner, &checked)
			wantFault(t, err, refused.kind, refused.reason)
			// The caller is gone when the session is stored.
			ctx, cancel := context.WithCancel(t.Context())
			if _, _, err = b.hookInsert(t, func() {}, cancel).newSession(ctx, refused.owner, &checked); err == nil {
				t.Error("a session was opened")
			}
		}
		if n := count(t, s.sessions); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

func TestASessionThatACrashLeavesOfARefusalIsNotOpen(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	changed, disabled := s.newUser(t, "", ""), s.newUser(t, "", "")
	if _, err := s.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: changed}); err != nil {
		t.Fatal(err)
	}
	s.disable(t, disabled, true)
	for owner, generation := range map[int64]int64{changed: 0, disabled: 1} {
		store, process := storetest.NewMortal(b.store, 1, storetest.NotHappened)
		dying := (&bench{store: distant{store}, now: b.now}).newServer(t)
		_, _, err := dying.newSession(t.Context(), owner, &user{ID: owner, CredentialGeneration: generation})
		if err == nil || !process.Died() {
			t.Fatalf("it died: %t, %v", process.Died(), err)
		}
	}
	if n := count(t, s.sessions); n != 2 {
		t.Fatalf("%d sessions are left, want both", n)
	}
	for _, isDisabled := range []bool{true, false} {
		s.disable(t, disabled, isDisabled)
		if open := append(s.list(t, changed), s.list(t, disabled)...); len(open) != 0 {
			t.Errorf("these are open: %v", open)
		}
	}
}
