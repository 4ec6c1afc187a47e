package rpc_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func TestAUserIsCreatedReadAndChangedInPart(t *testing.T) {
	t.Parallel()
	w := start(t)
	created := must(w.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "小旅人", IconUrl: "a.jpg"}))(t).GetUser()
	if created.GetUserId() < 1 || created.GetUserId() > 1<<53-1 || time.Since(created.GetCreateTime().AsTime()) > time.Hour {
		t.Errorf("created %v", created)
	}
	name, none := long(100), ""
	for _, change := range []struct {
		request      *accountv1.UpdateUserRequest
		name, iconOf string
	}{
		{&accountv1.UpdateUserRequest{}, "小旅人", "a.jpg"},
		{&accountv1.UpdateUserRequest{Name: &name}, name, "a.jpg"},
		{&accountv1.UpdateUserRequest{IconUrl: &none}, name, ""},
	} {
		change.request.UserId = created.GetUserId()
		if u := must(w.Account.UpdateUser(t.Context(), change.request))(t).GetUser(); u.GetName() != change.name || u.GetIconUrl() != change.iconOf {
			t.Errorf("after %v: %v", change.request, u)
		}
		read := must(w.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: created.GetUserId()}))(t)
		if u := read.GetUser(); u.GetName() != change.name || u.GetIconUrl() != change.iconOf {
			t.Errorf("read after %v: %v", change.request, u)
		}
	}
}

func TestABatchOfUsersHasEachExistingUserOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	x, b := w.newLogin("x@waybook.example", "long enough").GetUserId(), w.newUser("b")
	reply, err := w.Account.BatchGetUsers(t.Context(), &accountv1.BatchGetUsersRequest{UserIds: []int64{b, 1, x, x, 2}})
	var names []string
	for _, u := range got(t, reply, err).GetUsers() {
		names = append(names, u.GetName())
		if u.GetEmail() != "" || u.GetHasPassword() {
			t.Errorf("%v shows how the user logs in", u)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"b", "x"}) {
		t.Errorf("users %v", names)
	}
}

func (w *waybook) openSession(user int64) string {
	w.t.Helper()
	return must(w.Account.OpenSession(w.t.Context(), &accountv1.OpenSessionRequest{UserId: user}))(w.t).GetToken()
}

func TestASessionIsOpenUntilItIsClosed(t *testing.T) {
	t.Parallel()
	w := start(t, waybooktest.Flags("-session-ttl", sessionTTL.String()))
	user, other := w.newUser("a"), w.newUser("b")
	closeIt := func(user int64, token string) {
		t.Helper()
		if _, err := w.Account.CloseSession(t.Context(), &accountv1.CloseSessionRequest{UserId: user, Token: token}); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	first, second := w.openSession(user), w.openSession(user)
	if len(first) != 32 || strings.Trim(first, "0123456789abcdef") != "" || first == second {
		t.Errorf("tokens %q and %q", first, second)
	}
	session := must(w.Account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: first}))(t).GetSession()
	if left := time.Until(session.GetExpireTime().AsTime()); session.GetUserId() != user || left < sessionTTL-10*time.Minute || left > sessionTTL {
		t.Errorf("session %v", session)
	}
	expectFault(t, w.isOpen(other, first), codes.Unauthenticated, "LOGIN_REQUIRED")
	expectFault(t, w.isOpen(user, strings.Repeat("0", 32)), codes.Unauthenticated, "LOGIN_REQUIRED")
	closeIt(other, first) // another user's: no error and no effect
	if err := w.isOpen(user, first); err != nil {
		t.Errorf("another user closed it: %v", err)
	}
	closeIt(user, first)
	expectFault(t, w.isOpen(user, first), codes.Unauthenticated, "LOGIN_REQUIRED")
	closeIt(user, first)
	if err := w.isOpen(user, second); err != nil {
		t.Errorf("the other session: %v", err)
	}
}

func TestAccountFailsAsTheContractSays(t *testing.T) {
	t.Parallel()
	w := start(t)
	name, password := "x", "long enough"
	expectFailures(t, []failure{
		{"GetUser of an unknown user", calling(w.Account.GetUser, &accountv1.GetUserRequest{UserId: 1}), codes.NotFound, "USER_NOT_FOUND"},
		{"UpdateUser of an unknown user", calling(w.Account.UpdateUser, &accountv1.UpdateUserRequest{UserId: 1, Name: &name}), codes.NotFound, "USER_NOT_FOUND"},
		{"OpenSession of an unknown user", calling(w.Account.OpenSession, &accountv1.OpenSessionRequest{UserId: 1}), codes.NotFound, "USER_NOT_FOUND"},
		{"CloseSession of an unknown session", calling(w.Account.CloseSession, &accountv1.CloseSessionRequest{UserId: w.newUser("b"), SessionId: "0123456789abcdef"}), codes.NotFound, "SESSION_NOT_FOUND"},
		{"CloseAllSessions of an unknown user", calling(w.Account.CloseAllSessions, &accountv1.CloseAllSessionsRequest{UserId: 1}), codes.NotFound, "USER_NOT_FOUND"},
		{"UpdateUser with a password but no address", calling(w.Account.UpdateUser, &accountv1.UpdateUserRequest{UserId: w.newUser("a"), Password: &password}), codes.FailedPrecondition, "EMAIL_REQUIRED"},
		{"a new password of an unknown user", calling(w.Account.UpdateUser, &accountv1.UpdateUserRequest{UserId: 1, Password: &password}), codes.NotFound, "USER_NOT_FOUND"},
		{"ListRewards of an unknown user", calling(w.Account.ListRewards, &accountv1.ListRewardsRequest{UserId: 1}), codes.NotFound, "USER_NOT_FOUND"},
	})
	for _, request := range []*accountv1.CloseSessionRequest{
		{UserId: 1}, {UserId: 1, Token: strings.Repeat("0", 32), SessionId: strings.Repeat("0", 16)},
	} {
		expectFault(t, failed(w.Account.CloseSession(t.Context(), request)), codes.InvalidArgument, "INVALID_PARAMETER", "token")
	}
}

// onEachStore runs a test on the embedded store, in the long form over MongoDB's wire
// protocol, and on a real server if there is one.
func onEachStore(t *testing.T, test func(*testing.T, *parts)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, startPartsOn(t, newBrittle(t))) })
	t.Run("mongodb", func(t *testing.T) {
		longform.Only(t)
		test(t, startPartsOn(t, newBrittleOverWire(t, mongotest.StartReplicaSet(t))))
	})
	t.Run("real server", func(t *testing.T) { test(t, startPartsOn(t, newBrittleOverWire(t, mongotest.OnRealServer(t)))) })
}

// newLogin creates a user with an address and a password.
func (w *waybook) newLogin(email, password string) *accountv1.User {
	w.t.Helper()
	return must(w.Account.CreateUser(w.t.Context(), &accountv1.CreateUserRequest{Name: "x", Email: email, Password: password}))(w.t).GetUser()
}

func (w *waybook) logIn(email, password string) (*accountv1.User, error) {
	reply, err := w.Account.Authenticate(w.t.Context(), &accountv1.AuthenticateRequest{
		Email: email, Password: password, ClientAddress: "192.0.2.1",
	})
	return reply.GetUser(), err
}

// expectLogin checks that an address and a password belong to a user.
func (w *waybook) expectLogin(email, password string, want int64) {
	w.t.Helper()
	found := must(w.logIn(email, password))(w.t)
	if found.GetUserId() != want {
		w.t.Errorf("%s is %v, want user %d", email, found, want)
	}
}

func (w *waybook) expectNoLogin(email, password string) {
	w.t.Helper()
	expectFault(w.t, failed(w.logIn(email, password)), codes.Unauthenticated, "PASSWORD_INCORRECT")
}

func TestAnAddressBelongsToOneUserInAnyLetterCaseOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, w *parts) {
		create := func(email, requestID string) (*accountv1.User, error) {
			reply, err := w.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "x", Email: email, RequestId: requestID})
			return reply.GetUser(), err
		}
		move := func(user int64, email string) error {
			return failed(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{
				UserId: user, Email: &email, Name: proto.String("moved"),
			}))
		}
		first := w.newLogin("a@waybook.example", "password of a").GetUserId()
		second := w.newLogin("b@waybook.example", "password of b").GetUserId()
		for _, email := range []string{"a@waybook.example", "A@WAYBOOK.example"} {
			for _, requestID := range []string{"", requestID(1)} {
				expectFault(t, failed(create(email, requestID)), codes.AlreadyExists, "EMAIL_TAKEN")
			}
			expectFault(t, move(second, email), codes.AlreadyExists, "EMAIL_TAKEN")
		}
		read := must(w.Account.GetUser(t.Context(), &accountv1.GetUserRequest{UserId: second}))(t)
		if u := read.GetUser(); u.GetName() != "x" || u.GetEmail() != "b@waybook.example" {
			t.Errorf("a refused change left %v", u)
		}
		// Users may change the letter case of their address. An address that is no longer used
		// is free.
		if err := move(first, "A@Waybook.example"); err != nil {
			t.Error(err)
		}
		if err := move(first, "c@waybook.example"); err != nil {
			t.Error(err)
		}
		third := must(create("a@waybook.example", requestID(1)))(t)
		if third.GetUserId() == first {
			t.Errorf("created %v", third)
		}
		w.expectLogin("c@waybook.example", "password of a", first)
	})
}

func TestARepeatedCreateReturnsTheFirstUserAndKeepsTheFirstPasswordOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, w *parts) {
		create := func(password string) int64 {
			reply, err := w.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{
				Name: "x", Email: "a@waybook.example", Password: password, RequestId: requestID(1),
			})
			if err != nil {
				t.Error(err)
			}
			return reply.GetUser().GetUserId()
		}
		var made [8]int64
		var group sync.WaitGroup
		for i := range made {
			group.Go(func() { made[i] = create("the password") })
		}
		group.Wait()
		for _, id := range append(made[:], create("another one"), create("")) {
			if id != made[0] {
				t.Fatalf("made %v", made)
			}
		}
		w.expectLogin("a@waybook.example", "the password", made[0])
		w.expectNoLogin("a@waybook.example", "another one")
	})
}

func TestANewPasswordClosesTheUsersSessions(t *testing.T) {
	t.Parallel()
	w := start(t)
	user, other := w.newLogin("a@waybook.example", "the old one").GetUserId(), w.newUser("b")
	mine, others := []string{w.openSession(user), w.openSession(user)}, w.openSession(other)
	for _, request := range []*accountv1.UpdateUserRequest{
		{Name: proto.String("y")}, {Email: proto.String("b@waybook.example")}, {Password: proto.String("short")},
	} {
		request.UserId = user
		if _, err := w.Account.UpdateUser(t.Context(), request); (err != nil) != (request.Password != nil) {
			t.Errorf("%v: %v", request, err)
		}
		if err := w.isOpen(user, mine[0]); err != nil {
			t.Errorf("after %v: %v", request, err)
		}
	}
	must(w.Account.UpdateUser(t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: proto.String("the new one")}))(t)
	for _, token := range mine {
		expectFault(t, w.isOpen(user, token), codes.Unauthenticated, "LOGIN_REQUIRED")
	}
	if err := w.isOpen(other, others); err != nil {
		t.Errorf("the session of another user: %v", err)
	}
	w.expectNoLogin("b@waybook.example", "the old one")
	w.expectLogin("b@waybook.example", "the new one", user)
	if err := w.isOpen(user, w.openSession(user)); err != nil {
		t.Errorf("a new session: %v", err)
	}
}

func TestTooManyAttemptsAreRefusedForTheQuarterOfAnHourOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		user := p.newLogin("a@waybook.example", "password of a").GetUserId()
		other := p.newLogin("b@waybook.example", "password of b").GetUserId()
		p.Clock.Advance(10 * time.Minute)
		var group sync.WaitGroup
		var tried, refused atomic.Int64
		for i := range 32 {
			group.Go(func() {
				switch err := failed(p.logIn("a@waybook.example", fmt.Sprint("guess number ", i))); status.Code(err) {
				case codes.Unauthenticated:
					tried.Add(1)
				case codes.ResourceExhausted:
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if tried.Load() != 10 || refused.Load() != 22 {
			t.Errorf("%d guesses were tried and %d refused", tried.Load(), refused.Load())
		}
		err := failed(p.logIn("A@waybook.example", "password of a"))
		expectFault(t, err, codes.ResourceExhausted, "TOO_MANY_ATTEMPTS")
		if wait := retryDelay(err); wait != 5*time.Minute {
			t.Errorf("retry after %v", wait)
		}
		p.expectLogin("b@waybook.example", "password of b", other)
		p.Clock.Advance(5 * time.Minute)
		p.expectLogin("a@waybook.example", "password of a", user)
	})
}

// retryDelay returns the delay in google.rpc.RetryInfo.
func retryDelay(err error) time.Duration {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

func (w *waybook) isOpen(user int64, token string) error {
	return failed(w.Account.VerifySession(w.t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: token}))
}
