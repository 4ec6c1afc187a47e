package rpc_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

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
