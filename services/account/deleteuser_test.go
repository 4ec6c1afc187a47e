package account

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (s *server) disable(t testing.TB, id int64, isDisabled bool) {
	t.Helper()
	if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: id, Disabled: proto.Bool(isDisabled)}); err != nil {
		t.Fatal(err)
	}
}

func TestADisabledUserHasNoSessionAndCannotLogIn(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	id := s.newUser(t, "a@waybook.example", "password of a")
	session := s.open(t, id)
	b.hashed()
	s.disable(t, id, true)
	wantFault(t, s.verifySession(t, session), codes.Unauthenticated, "LOGIN_REQUIRED")
	wantFault(t, s.logIn(t.Context(), "a@waybook.example", "password of a", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
	if done := b.hashed(); len(done) != 1 {
		t.Errorf("the refusal took %d hashes, want 1 as any other", len(done))
	}
	_, err := s.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: id})
	wantFault(t, err, codes.Unauthenticated, "LOGIN_REQUIRED")
	s.disable(t, id, false)
	wantFault(t, s.verifySession(t, session), codes.Unauthenticated, "LOGIN_REQUIRED")
	if err := s.logIn(t.Context(), "a@waybook.example", "password of a", "client"); err != nil {
		t.Error(err)
	}
}

// TestACrashBetweenAnyTwoWritesOfADeletionIsMendedByTheNext crashes a process at each write in
// turn, which the store has done or not.
func TestACrashBetweenAnyTwoWritesOfADeletionIsMendedByTheNext(t *testing.T) {
	for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
		writes := 0
		for isOver := false; !isOver; writes++ {
			b := newBench(t)
			s := b.newServer(t)
			s.resultsOf(t, false, someRecords()...)
			if err := s.logIn(t.Context(), "ann@waybook.example", "hashcat", "home"); err != nil {
				t.Fatal(err)
			}
			s.open(t, 7)
			other := &accountv1.VerifySessionRequest{UserId: 8, Token: tokenNamed("2")}
			s.disable(t, 7, true)
			store, process := storetest.NewMortal(b.store, writes, outcome)
			dying := (&bench{store: store, now: b.now}).newServer(t)
			_, err := dying.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 7})
			isOver = !process.Died()
			if isOver != (err == nil) {
				t.Fatalf("after %d writes: %v", writes, err)
			}
			if u, err := s.users.Get(t.Context(), 7); err == nil && !u.IsDisabled {
				t.Errorf("after %d writes the user is %v", writes, u)
			}
			for range 2 {
				if _, err := s.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 7}); err != nil {
					t.Fatalf("after %d writes, again: %v", writes, err)
				}
			}
			_, err = s.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: 7})
			wantFault(t, err, codes.NotFound, "USER_NOT_FOUND")
			for name, n := range map[string]int64{
				"sessions": count(t, s.sessions), "rewards": count(t, s.rewards), "users": count(t, s.users),
			} {
				if want := map[string]int64{"sessions": 1, "rewards": 1, "users": 1}[name]; n != want {
					t.Errorf("after %d writes, outcome %v: %d %s, want %d", writes, outcome, n, name, want)
				}
			}
			if err := s.verifySession(t, other); err != nil {
				t.Errorf("the other user: %v", err)
			}
			if _, buried, err := s.moved.OfManyOrGone(t.Context(), []string{"7"}); err != nil || !buried["7"] {
				t.Errorf("the deletion will be forgotten: %v, %v", buried, err)
			}
			s.newUser(t, "ann@waybook.example", "of somebody else") // the address is free
		}
		if writes < 4 { // a reward, the burial, the user
			t.Errorf("only %d writes", writes)
		}
	}
}

// A call that has read a user before the deletion stores what belongs to the user after it.
func TestASweepRemovesWhatCallsStoreWhileTheirUserIsDeleted(t *testing.T) {
	for collection, call := range map[string]func(s *server) error{
		"rewards": func(s *server) error {
			return s.grant(t, 7, "blog/1")
		},
		"sessions": func(s *server) error {
			_, err := s.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: 7})
			return err
		},
	} {
		t.Run(collection, func(t *testing.T) {
			b := newBench(t)
			s := b.newServer(t)
			s.wantResults(t, "INSERTED", oldAnn())
			slow := &bench{now: b.now, store: &storetest.Hooked{Engine: b.store, Write: func(_ context.Context, c storetest.Call, do func() error) error {
				if c.Collection == collection && c.Verb == "insert" {
					s.disable(t, 7, true)
					if _, err := s.DeleteUser(t.Context(), &accountv1.DeleteUserRequest{UserId: 7}); err != nil {
						t.Error(err)
					}
				}
				return do()
			}}}
			if err := call(slow.newServer(t)); err != nil {
				t.Logf("the call: %v", err)
			}
			left := func() int64 {
				return map[string]int64{
					"rewards": count(t, s.rewards), "sessions": count(t, s.sessions),
				}[collection]
			}
			if left() != 1 {
				t.Fatalf("%d documents before the sweep, want that of the call", left())
			}
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if left() != 0 {
				t.Errorf("%d documents outlive their user", left())
			}
		})
	}
}
