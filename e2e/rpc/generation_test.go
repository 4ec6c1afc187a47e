package rpc_test

import (
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// openSessions returns the number of a user's open sessions.
func (w *waybook) openSessions(user int64) int {
	w.t.Helper()
	return len(must(w.Account.ListSessions(w.t.Context(), &accountv1.ListSessionsRequest{UserId: user}))(w.t).GetSessions())
}

func (w *waybook) isOpen(user int64, token string) error {
	return failed(w.Account.VerifySession(w.t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: token}))
}

func (w *waybook) setPassword(user int64, password string) error {
	return failed(w.Account.UpdateUser(w.t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: &password}))
}

// endings are the calls that close all sessions of a user.
func (w *waybook) endings(user int64) map[string]func() error {
	return map[string]func() error{
		"a new password": func() error { return w.setPassword(user, "the new one") },
		"close all": func() error {
			return failed(w.Account.CloseAllSessions(w.t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user}))
		},
	}
}

func TestALoginUnderWayWhileAllSessionsAreClosedOpensNoneOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		for _, name := range []string{"a new password", "close all"} {
			user := p.newLogin(requestID(len(name))+"@waybook.example", "the old one")
			// The user is read again when the password is verified, while the session is stored.
			p.store.beforeNext(storetest.Call{Collection: "users", Verb: "get"}, func() {
				if err := p.endings(user.GetUserId())[name](); err != nil {
					t.Error(err)
				}
			})
			b := p.newBrowser(t, p.Account, "192.0.2.1")
			b.expectLogin(name, user.GetEmail(), "the old one", "LOGIN_REQUIRED")
			if len(b.Cookies) != 0 || p.openSessions(user.GetUserId()) != 0 {
				t.Errorf("%s: the login got the cookies %v, %d sessions are open", name, b.Cookies, p.openSessions(user.GetUserId()))
			}
		}
	})
}

// TestNoSessionOfAnOldPasswordIsOpenAfterConcurrentLogins lets logins race with a new password
// wherever they happen to meet.
func TestNoSessionOfAnOldPasswordIsOpenAfterConcurrentLogins(t *testing.T) {
	t.Parallel()
	p := startParts(t)
	for round := range longform.Number(2, 5) {
		user := p.newLogin(requestID(round)+"@waybook.example", "the old one")
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				b := p.newBrowser(t, p.Account, "192.0.2.1")
				switch reason := b.logIn(user.GetEmail(), "the old one"); reason {
				case "", "LOGIN_REQUIRED", "PASSWORD_INCORRECT":
				default:
					t.Errorf("a login got %q", reason)
				}
			})
		}
		if err := p.setPassword(user.GetUserId(), "the new one"); err != nil {
			t.Error(err)
		}
		group.Wait()
		if n := p.openSessions(user.GetUserId()); n != 0 {
			t.Errorf("%d sessions of the old password are open", n)
		}
	}
}
