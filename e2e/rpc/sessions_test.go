package rpc_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/standalone/app"
)

func (w *waybook) openSession(user int64) string {
	w.t.Helper()
	return must(w.account.OpenSession(w.t.Context(), &accountv1.OpenSessionRequest{UserId: user}))(w.t).GetToken()
}

func (w *waybook) closeAllSessions(user int64) int64 {
	w.t.Helper()
	return must(w.account.CloseAllSessions(w.t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user}))(w.t).GetClosedCount()
}

func TestClosingAllSessionsOfAUserSparesOtherUsers(t *testing.T) {
	t.Parallel()
	w := start(t)
	user, other := w.newUser("a"), w.newUser("b")
	tokens := []string{w.openSession(user), w.openSession(user), w.openSession(user)}
	others := w.openSession(other)
	if closed := w.closeAllSessions(user); closed != 3 {
		t.Errorf("closed %d", closed)
	}
	for _, token := range tokens {
		expectFault(t, failed(w.account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: token})), codes.Unauthenticated, "LOGIN_REQUIRED")
	}
	if _, err := w.account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: other, Token: others}); err != nil {
		t.Errorf("the session of another user: %v", err)
	}
	if closed := w.closeAllSessions(user); closed != 0 {
		t.Errorf("closed %d sessions that were already closed", closed)
	}
	expectFault(t, failed(w.account.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: 1})), codes.NotFound, "USER_NOT_FOUND")
}

func TestExpiredSessionsDoNotCountAsClosed(t *testing.T) {
	t.Parallel()
	w := start(t, func(config *app.Config) { config.Account.Sessions.Total = time.Nanosecond })
	user := w.newUser("a")
	w.openSession(user)
	if closed := w.closeAllSessions(user); closed != 0 {
		t.Errorf("closed %d", closed)
	}
}
