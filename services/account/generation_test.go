package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// TestACrashBetweenAnyTwoWritesOfANewPasswordLeavesNoSessionOfTheOld crashes a process at each
// write in turn, which the store has done or not.
func TestACrashBetweenAnyTwoWritesOfANewPasswordLeavesNoSessionOfTheOld(t *testing.T) {
	for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
		writes := 0
		for isOver := false; !isOver; writes++ {
			b := newBench(t)
			s := b.newServer(t)
			user := s.newUser(t, "a@waybook.example", "the old one")
			sessions := []*accountv1.VerifySessionRequest{s.open(t, user), s.open(t, user)}
			store, process := storetest.NewMortal(b.store, writes, outcome)
			dying := (&bench{store: store, now: b.now}).newServer(t)
			_, err := dying.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: proto.String("the new one")})
			isOver = !process.Died()
			isOld := s.logIn(t.Context(), "a@waybook.example", "the old one", "") == nil
			if isOld && err == nil {
				t.Errorf("after %d writes: the old password is valid after success", writes)
			}
			for _, session := range sessions {
				if isOpen := s.verifySession(t, session) == nil; isOpen != isOld {
					t.Errorf("after %d writes, outcome %v: the old password is valid: %t, its session is open: %t", writes, outcome, isOld, isOpen)
				}
			}
		}
		if writes < 4 { // the user, and two sessions
			t.Errorf("only %d writes", writes)
		}
	}
}

func TestSessionsAreClosedWhileTheirDeletionHangsOrFails(t *testing.T) {
	b := newBench(t)
	whole := b.newServer(t)
	user, other := whole.newUser(t, "a@waybook.example", "the old one"), whole.newUser(t, "", "")
	whole.addSessions(t, other, every(time.Millisecond, b.clock().Add(-time.Hour), 10_000)...)
	hangs := false
	b.store = &storetest.Hooked{Engine: b.store, Write: func(ctx context.Context, call storetest.Call, do func() error) error {
		if call.Collection != "sessions" {
			return do()
		}
		if hangs {
			<-ctx.Done()
		}
		return cmp.Or(ctx.Err(), errCannotWrite)
	}}
	tried := b.newServer(t)
	tried.tidyTimeout = 10 * time.Millisecond
	for name, end := range map[string]func() error{
		"close all": func() error {
			_, err := tried.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user})
			return err
		},
		"a new password": func() error {
			_, err := tried.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: proto.String("the new one")})
			return err
		},
	} {
		for _, hangs = range []bool{true, false} {
			open := whole.open(t, user)
			if err := end(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			wantFault(t, whole.verifySession(t, open), codes.Unauthenticated, "LOGIN_REQUIRED")
		}
	}
}

func TestARenewedHashReplacesNoNewPassword(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	id := s.newUser(t, "a@waybook.example", "the old one")
	stored, err := s.users.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := parseHash(stored.PasswordHash)
	if err != nil {
		t.Fatal(err)
	}
	hash.passes = 1
	if _, err := s.users.Update(t.Context(), id, func(u *user) error { u.PasswordHash = hash.String(); return nil }); err != nil {
		t.Fatal(err)
	}
	// The password changes while the old one is hashed again.
	isChanged := false
	s.passwords.derive = func(password, salt []byte, passes, memoryKiB uint32, lanes uint8, keyBytes uint32) []byte {
		if string(password) == "the old one" && passes == hashPasses && !isChanged {
			isChanged = true
			if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: id, Password: proto.String("the new one")}); err != nil {
				t.Error(err)
			}
		}
		return b.derive(password, salt, passes, memoryKiB, lanes, keyBytes)
	}
	if err := s.logIn(t.Context(), "a@waybook.example", "the old one", ""); err != nil || !isChanged {
		t.Fatalf("the password has changed: %t, %v", isChanged, err)
	}
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "the old one", ""), codes.Unauthenticated, "PASSWORD_INCORRECT")
	if err := s.logIn(t.Context(), "a@waybook.example", "the new one", ""); err != nil {
		t.Error(err)
	}
}

var errCannotWrite = errors.New("the store cannot write now")

func TestALoginSucceedsIfItsHashCannotBeRenewed(t *testing.T) {
	b := newBench(t)
	whole := b.newServer(t)
	id := whole.newUser(t, "a@waybook.example", "the password")
	if _, err := whole.users.Update(t.Context(), id, func(u *user) error {
		hash, err := parseHash(u.PasswordHash)
		hash.passes = 1
		u.PasswordHash = hash.String()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	b.store = &storetest.Hooked{Engine: b.store, Write: func(_ context.Context, call storetest.Call, do func() error) error {
		if call.Collection == "users" {
			return errCannotWrite
		}
		return do()
	}}
	reply, err := b.newServer(t).Authenticate(t.Context(), &accountv1.AuthenticateRequest{Email: "a@waybook.example", Password: "the password"})
	if err != nil || reply.GetUser().GetUserId() != id {
		t.Errorf("got %v, %v", reply, err)
	}
}

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
