package account

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	created   = typev1.MoveOutcome_MOVE_OUTCOME_CREATED
	unchanged = typev1.MoveOutcome_MOVE_OUTCOME_UNCHANGED
	updated   = typev1.MoveOutcome_MOVE_OUTCOME_UPDATED
	different = typev1.MoveOutcome_MOVE_OUTCOME_DIFFERENT
	refused   = typev1.MoveOutcome_MOVE_OUTCOME_REFUSED
)

const (
	md5OfHashcat  = "8743b52063cd84097a65d1633f5c74f5"
	md5OfPassword = "5f4dcc3b5aa765d61d8327deb882cf99"
)

// ann is a user with a session and rewards.
func ann() *accountv1.MovedUser {
	return &accountv1.MovedUser{
		UserId: 7, Name: "Ann", IconUrl: "a.jpg", Email: "Ann@waybook.example", PasswordHash: md5OfHashcat,
		CreateTime: timestamppb.New(time.Date(2009, 3, 1, 10, 0, 0, 0, time.UTC)),
		Sessions:   sessionsNamed("1"),
		Rewards:    []*accountv1.MovedReward{{OldId: "1", Amount: 10}, {OldId: "x", Amount: 5}},
	}
}

// tokenNamed is the secret of a session.
func tokenNamed(name string) string { return strings.Repeat("0", 32-len(name)) + name }

func sessionsNamed(names ...string) *accountv1.MovedSessions {
	all := &accountv1.MovedSessions{}
	for _, name := range names {
		all.Sessions = append(all.Sessions, &accountv1.MovedSession{Token: tokenNamed(name)})
	}
	return all
}

// moveIn moves records in and returns their outcomes.
func (s *server) moveIn(t testing.TB, options *typev1.MoveOptions, users ...*accountv1.MovedUser) (outcomes []typev1.MoveOutcome) {
	t.Helper()
	reply, err := s.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{Options: options, Users: users})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range reply.GetResults() {
		outcomes = append(outcomes, result.GetOutcome())
	}
	return outcomes
}

func wantOutcomes(t testing.TB, got []typev1.MoveOutcome, want ...typev1.MoveOutcome) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got outcomes %v, want %v", got, want)
	}
}

// state returns what is stored of users, sessions and rewards.
func (s *server) state(t testing.TB) (all []string) {
	t.Helper()
	users, err := s.ListUsers(t.Context(), &accountv1.ListUsersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users.GetUsers() {
		rewards, err := s.ListRewards(t.Context(), &accountv1.ListRewardsRequest{UserId: u.GetUserId()})
		if err != nil {
			t.Fatal(err)
		}
		of := []string{fmt.Sprint(u)}
		for _, each := range rewards.GetRewards() {
			of = append(of, fmt.Sprint(each.GetSource(), " ", each.GetAmount()))
		}
		for _, each := range s.list(t, u.GetUserId()) {
			of = append(of, fmt.Sprint(each.GetSessionId(), " ", each.GetExpireTime().AsTime()))
		}
		slices.Sort(of[1:])
		all = append(all, of...)
	}
	return all
}

func TestAMovedUserLogsInWithEachOldFormAndThenHasArgon2id(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.passwords = newPasswords()
	form := func(id int64) accountv1.PasswordForm {
		t.Helper()
		u, err := s.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: id})
		if err != nil {
			t.Fatal(err)
		}
		return u.GetUser().GetPasswordForm()
	}
	seen := map[accountv1.PasswordForm]bool{}
	for i, c := range oldHashes {
		if seen[c.form] {
			continue
		}
		seen[c.form] = true
		id, email := int64(i+1), fmt.Sprintf("User%d@waybook.example", i)
		wantOutcomes(t, s.moveIn(t, nil, &accountv1.MovedUser{UserId: id, Name: "x", Email: email, PasswordHash: c.hash}), created)
		wantFault(t, s.logIn(t.Context(), email, "not the password", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
		if got := form(id); got != c.form {
			t.Errorf("%s: before the login the form is %v", c.hash, got)
		}
		for range 2 { // with the old hash, and with the new one
			if err := s.logIn(t.Context(), strings.ToLower(email), c.password, "client"); err != nil {
				t.Fatalf("%s: %v", c.hash, err)
			}
			u, err := s.users.Get(t.Context(), id)
			if err != nil || !hasPresentCost(u.PasswordHash) || u.PasswordIsMoved {
				t.Errorf("%s: after the login %s is stored, %v", c.hash, u.PasswordHash, err)
			}
		}
	}
}

// Bcrypt sees 72 bytes of a password. A login proves no others, so it stores none.
func TestALoginStoresNoByteOfAPasswordThatItsOldHashDidNotSee(t *testing.T) {
	s := newBench(t).newServer(t)
	s.passwords = newPasswords()
	const hash = "$2y$04$oTjB2p7.vf/glOMUXK3IvezfGO/SHZoVrg8kw0fDzQkeIRJVdUHhu" // by PHP 8.2, of 100 times "a"
	const short = "$2a$05$LhayLxezLhK1LhWvKxCyLOj0j1u.Kj0jZ0pEmm134uzrQlFvQJLF6"
	for i, c := range []struct{ hash, password, typed string }{
		{hash, strings.Repeat("a", 100), strings.Repeat("a", 72) + "a slip"},
		{hash, strings.Repeat("a", 100), strings.Repeat("a", 72)},
		{short, "hashcat", "hashcat\x00hashcat"},
	} {
		email := fmt.Sprintf("user%d@waybook.example", i)
		wantOutcomes(t, s.moveIn(t, nil, &accountv1.MovedUser{UserId: int64(i + 1), Name: "x", Email: email, PasswordHash: c.hash}), created)
		for _, typed := range []string{c.typed, c.password} {
			if err := s.logIn(t.Context(), email, typed, "client"); err != nil {
				t.Errorf("%q after %q: %v", typed, c.typed, err)
			}
		}
	}
}

func TestMD5WaitsForNoSlowHashAndAnAttemptThatWasNotJudgedCountsNowhere(t *testing.T) {
	s := newBench(t).newServer(t)
	s.passwords.slow = admission.New(admission.Limits{Slots: 1})
	if !s.passwords.slow.TryEnter(1) {
		t.Fatal("the slow place is taken")
	}
	logIn := map[accountv1.PasswordForm]func() error{}
	for i, c := range oldHashes {
		email := fmt.Sprintf("user%d@waybook.example", i)
		wantOutcomes(t, s.moveIn(t, nil, &accountv1.MovedUser{UserId: int64(i + 1), Name: "x", Email: email, PasswordHash: c.hash}), created)
		logIn[c.form] = func() error { return s.logIn(t.Context(), email, c.password, "client") }
	}
	for _, form := range []accountv1.PasswordForm{
		accountv1.PasswordForm_PASSWORD_FORM_MD5, accountv1.PasswordForm_PASSWORD_FORM_PHPASS, accountv1.PasswordForm_PASSWORD_FORM_MD5_CRYPT,
	} {
		if err := logIn[form](); err != nil {
			t.Errorf("%v waits for the slow place: %v", form, err)
		}
	}
	for _, form := range []accountv1.PasswordForm{accountv1.PasswordForm_PASSWORD_FORM_BCRYPT, accountv1.PasswordForm_PASSWORD_FORM_ARGON2ID} {
		for range 2 * s.logins.limits.pair {
			if err := logIn[form](); !errors.Is(err, admission.ErrFull) {
				t.Fatalf("%v: got %v, want %v", form, err, admission.ErrFull)
			}
		}
	}
}

// The limits of logins and the work of a refusal are those of any other user.
func TestAnOldFormOfPasswordHasTheLimitsAndCostsTheWorkOfAnyOther(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	s.moveIn(t, nil, ann())
	today := []cost{{passes: 2, memoryKiB: 19 * 1024, lanes: 1, keyBytes: 32}}
	for range defaultAttemptLimits().pair {
		wantFault(t, s.logIn(t.Context(), "ann@waybook.example", "a wrong password", "client"), codes.Unauthenticated, "PASSWORD_INCORRECT")
		if done := b.hashed(); !slices.Equal(done, today) {
			t.Fatalf("a refusal cost %v, want %v", done, today)
		}
	}
	wantFault(t, s.logIn(t.Context(), "ann@waybook.example", "hashcat", "client"), codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
	if done := b.hashed(); len(done) != 0 {
		t.Errorf("%d hashes for a refused attempt", len(done))
	}
}

func TestAMovedSessionIsOpenUntilItIsClosedForGood(t *testing.T) {
	b := newBench(t)
	s := b.newServer(t)
	moved := ann()
	moved.Sessions = sessionsNamed("1", "2", "3")
	moved.Sessions.Sessions[1].ExpireTime = timestamppb.New(b.clock().Add(3 * time.Hour))
	moved.Sessions.Sessions[2].ExpireTime = timestamppb.New(b.clock())
	session := func(name string) *accountv1.VerifySessionRequest {
		return &accountv1.VerifySessionRequest{UserId: 7, Token: tokenNamed(name)}
	}
	wantOutcomes(t, s.moveIn(t, nil, moved), created)
	for name, isOpen := range map[string]bool{"1": true, "2": true, "3": false} {
		if got := s.verifySession(t, session(name)) == nil; got != isOpen {
			t.Errorf("session %s is open: %t", name, got)
		}
	}
	for range 2 { // a client that logs out twice
		if _, err := s.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: 7, Token: tokenNamed("1")}); err != nil {
			t.Fatal(err)
		}
	}
	wantOutcomes(t, s.moveIn(t, nil, moved), unchanged)
	wantOutcomes(t, s.moveIn(t, &typev1.MoveOptions{Update: true}, moved), unchanged)
	wantFault(t, s.verifySession(t, session("1")), codes.Unauthenticated, "LOGIN_REQUIRED")
	if err := s.verifySession(t, session("2")); err != nil {
		t.Error(err)
	}
	// A session that the old service has closed since is closed here.
	fewer := ann()
	fewer.Sessions = sessionsNamed("4")
	wantOutcomes(t, s.moveIn(t, &typev1.MoveOptions{Update: true, ValidateOnly: true}, fewer), updated)
	if err := s.verifySession(t, session("2")); err != nil {
		t.Errorf("after a dry run: %v", err)
	}
	wantOutcomes(t, s.moveIn(t, &typev1.MoveOptions{Update: true}, fewer), updated)
	wantFault(t, s.verifySession(t, session("2")), codes.Unauthenticated, "LOGIN_REQUIRED")
	if err := s.verifySession(t, session("4")); err != nil {
		t.Error(err)
	}
	// After a new password none is open, and none becomes so.
	if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: 7, Password: proto.String("a new password")}); err != nil {
		t.Fatal(err)
	}
	for _, options := range []*typev1.MoveOptions{nil, {Update: true}} {
		s.moveIn(t, options, moved, &accountv1.MovedUser{UserId: 8, Name: "b"})
		for _, name := range []string{"1", "2", "3", "4"} {
			wantFault(t, s.verifySession(t, session(name)), codes.Unauthenticated, "LOGIN_REQUIRED")
		}
	}
}

func TestASessionOfAnotherUserStaysThatUsers(t *testing.T) {
	s := newBench(t).newServer(t)
	thief := ann()
	thief.UserId, thief.Email = 8, ""
	thief.PasswordHash = ""
	s.moveIn(t, nil, ann())
	reply, err := s.MoveInUsers(t.Context(), &accountv1.MoveInUsersRequest{Users: []*accountv1.MovedUser{thief}})
	if err != nil {
		t.Fatal(err)
	}
	problems := reply.GetResults()[0].GetProblems()
	if len(problems) != 1 || problems[0].GetReason() != "ID_TAKEN" || problems[0].GetField() != "sessions.sessions[0].token" {
		t.Errorf("got %v", reply)
	}
	if err := s.verifySession(t, &accountv1.VerifySessionRequest{UserId: 7, Token: tokenNamed("1")}); err != nil {
		t.Error(err)
	}
	wantFault(t, s.verifySession(t, &accountv1.VerifySessionRequest{UserId: 8, Token: tokenNamed("1")}), codes.Unauthenticated, "LOGIN_REQUIRED")
}

func TestAnUpdateBringsAnOldPasswordOnlyWhereNobodyHasLoggedIn(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*testing.T, *server)
		want   string
	}{
		"nobody": {func(*testing.T, *server) {}, "password"},
		"the user has logged in": {func(t *testing.T, s *server) {
			if err := s.logIn(t.Context(), "ann@waybook.example", "hashcat", ""); err != nil {
				t.Fatal(err)
			}
		}, "hashcat"},
		"the password was changed here": {func(t *testing.T, s *server) {
			if _, err := s.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: 7, Password: proto.String("a new password")}); err != nil {
				t.Fatal(err)
			}
		}, "a new password"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBench(t).newServer(t)
			s.moveIn(t, nil, ann())
			c.before(t, s)
			next := ann()
			next.PasswordHash = md5OfPassword
			s.moveIn(t, nil, next)
			s.moveIn(t, &typev1.MoveOptions{Update: true}, next)
			for _, password := range []string{"hashcat", "password", "a new password"} {
				if isRight := s.logIn(t.Context(), "ann@waybook.example", password, "") == nil; isRight != (password == c.want) {
					t.Errorf("%q is right: %t", password, isRight)
				}
			}
		})
	}
}

// TestACrashBetweenAnyTwoWritesOfAMoveIsMendedByTheNext crashes a process at each write in
// turn, which the store has done or not, and moves the records in again.
func TestACrashBetweenAnyTwoWritesOfAMoveIsMendedByTheNext(t *testing.T) {
	bob := &accountv1.MovedUser{UserId: 8, Name: "Bob", Sessions: sessionsNamed("b"), Rewards: []*accountv1.MovedReward{{OldId: "1", Amount: 1}}}
	next := ann()
	next.Name, next.Sessions, next.Rewards[0].Amount = "Anna", sessionsNamed("2"), 11
	whole := newBench(t).newServer(t)
	whole.moveIn(t, nil, ann())
	wantOutcomes(t, whole.moveIn(t, &typev1.MoveOptions{Update: true}, next, bob), updated, created)
	want := whole.state(t)
	for _, outcome := range []storetest.Outcome{storetest.NotHappened, storetest.Happened} {
		writes := 0
		for isOver := false; !isOver; writes++ {
			b := newBench(t)
			s := b.newServer(t)
			s.moveIn(t, nil, ann())
			store, process := storetest.NewMortal(b.store, writes, outcome)
			dying := (&bench{store: store, now: b.now}).newServer(t)
			request := &accountv1.MoveInUsersRequest{Options: &typev1.MoveOptions{Update: true}, Users: []*accountv1.MovedUser{next, bob}}
			_, err := dying.MoveInUsers(t.Context(), request)
			isOver = !process.Died()
			if isOver != (err == nil) {
				t.Fatalf("after %d writes: %v", writes, err)
			}
			s.moveIn(t, &typev1.MoveOptions{Update: true}, next, bob)
			if got := s.state(t); !slices.Equal(got, want) {
				t.Errorf("after %d writes, outcome %v:\n%v\nwant\n%v", writes, outcome, got, want)
			}
			wantOutcomes(t, s.moveIn(t, nil, next, bob), unchanged, unchanged)
		}
		if writes < 6 { // two users, a closed session, sessions, rewards, an amount
			t.Errorf("only %d writes", writes)
		}
	}
}
