package account

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
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

// listUsers returns the names of the users that a request lists, in pages of two.
func (s *server) listUsers(t testing.TB, request *accountv1.ListUsersRequest) (names []string) {
	t.Helper()
	request.PageSize = 2
	for {
		page, err := s.ListUsers(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range page.GetUsers() {
			names = append(names, u.GetName())
		}
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			return names
		}
	}
}

func byNamePrefix(prefix string) *accountv1.ListUsersRequest {
	return &accountv1.ListUsersRequest{Prefix: &accountv1.ListUsersRequest_NamePrefix{NamePrefix: prefix}}
}

func byEmailPrefix(prefix string) *accountv1.ListUsersRequest {
	return &accountv1.ListUsersRequest{Prefix: &accountv1.ListUsersRequest_EmailPrefix{EmailPrefix: prefix}}
}

func TestUsersAreListedByTheBeginningOfNameOrAddressInAnyLetterCase(t *testing.T) {
	s := newBench(t).newServer(t)
	s.resultsOf(t, false,
		&moveinv1.User{Id: 1, Name: "Ann", Email: "Zed@waybook.example"},
		&moveinv1.User{Id: 2, Name: "anna", Email: "ann@waybook.example"},
		&moveinv1.User{Id: 3, Name: "ANNABEL", Email: "Anna.Bel@waybook.example"},
		&moveinv1.User{Id: 4, Name: "Bann"},
		&moveinv1.User{Id: 5, Name: "小旅人", Email: "#x@waybook.example"},
		&moveinv1.User{Id: 6, Name: "小明"},
	)
	for _, c := range []struct {
		request *accountv1.ListUsersRequest
		want    []string
	}{
		{&accountv1.ListUsersRequest{}, []string{"Ann", "anna", "ANNABEL", "Bann", "小旅人", "小明"}},
		{byNamePrefix("ANN"), []string{"Ann", "anna", "ANNABEL"}},
		{byNamePrefix("annab"), []string{"ANNABEL"}},
		{byNamePrefix("小"), []string{"小旅人", "小明"}},
		{byNamePrefix("="), nil},
		{byNamePrefix("nn"), nil},
		{byEmailPrefix("ANN"), []string{"anna", "ANNABEL"}},
		{byEmailPrefix("ann@waybook.example"), []string{"anna"}},
		{byEmailPrefix("#"), []string{"小旅人"}}, // and no key of a user without an address
	} {
		got := s.listUsers(t, c.request)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v listed %q, want %q", c.request, got, c.want)
		}
	}
}

func TestARenamedUserIsListedByTheNewNameOnly(t *testing.T) {
	s := newBench(t).newServer(t)
	id := s.newUser(t, "a@waybook.example", "")
	name, email := "Zoë", "z@waybook.example"
	if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: id, Name: &name, Email: &email}); err != nil {
		t.Fatal(err)
	}
	for request, want := range map[*accountv1.ListUsersRequest]int{
		byNamePrefix("x"): 0, byNamePrefix("zoË"): 1, byEmailPrefix("a@"): 0, byEmailPrefix("z@"): 1,
	} {
		if got := s.listUsers(t, request); len(got) != want {
			t.Errorf("%v listed %q", request, got)
		}
	}
}
