package rpc_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// delayed is an account service to which something happens after the edge has checked a password
// and before it opens a session.
type delayed struct {
	accountv1.AccountServiceClient
	meanwhile func()
}

func (d delayed) OpenSession(
	ctx context.Context, request *accountv1.OpenSessionRequest, options ...grpc.CallOption,
) (*accountv1.OpenSessionResponse, error) {
	d.meanwhile()
	return d.AccountServiceClient.OpenSession(ctx, request, options...)
}

// openSessions returns the number of a user's open sessions.
func (w *waybook) openSessions(user int64) int {
	w.t.Helper()
	return len(must(w.account.ListSessions(w.t.Context(), &accountv1.ListSessionsRequest{UserId: user}))(w.t).GetSessions())
}

func (w *waybook) isOpen(user int64, token string) error {
	return failed(w.account.VerifySession(w.t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: token}))
}

func (w *waybook) setPassword(user int64, password string) error {
	return failed(w.account.UpdateUser(w.t.Context(), &accountv1.UpdateUserRequest{UserId: user, Password: &password}))
}

// endings are the calls that close all sessions of a user.
func (w *waybook) endings(user int64) map[string]func() error {
	return map[string]func() error{
		"a new password": func() error { return w.setPassword(user, "the new one") },
		"close all": func() error {
			return failed(w.account.CloseAllSessions(w.t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user}))
		},
	}
}

func TestALoginUnderWayWhileAllSessionsAreClosedOpensNone(t *testing.T) {
	onEachStore(t, func(t *testing.T, p *parts) {
		for _, name := range []string{"a new password", "close all"} {
			user := p.newLogin(requestID(len(name))+"@waybook.example", "the old one")
			b := p.newBrowser(t, delayed{p.account, func() {
				if err := p.endings(user.GetUserId())[name](); err != nil {
					t.Error(err)
				}
			}}, "192.0.2.1")
			b.expectLogin(name, user.GetEmail(), "the old one", "LOGIN_REQUIRED")
			if len(b.cookies) != 0 || p.openSessions(user.GetUserId()) != 0 {
				t.Errorf("%s: the login got the cookies %v, %d sessions are open", name, b.cookies, p.openSessions(user.GetUserId()))
			}
		}
	})
}

// TestNoSessionOfAnOldPasswordIsOpenAfterConcurrentLogins lets logins race with a new password
// wherever they happen to meet.
func TestNoSessionOfAnOldPasswordIsOpenAfterConcurrentLogins(t *testing.T) {
	p := startParts(t)
	for round := range 5 {
		user := p.newLogin(requestID(round)+"@waybook.example", "the old one")
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				b := p.newBrowser(t, p.account, "192.0.2.1")
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

func TestSessionsAreClosedAlsoWhenTheirDeletionFails(t *testing.T) {
	onEachStore(t, func(t *testing.T, p *parts) {
		user := p.newLogin("a@waybook.example", "the old one").GetUserId()
		for name, end := range p.endings(user) {
			tokens := []string{p.openSession(user), p.openSession(user)}
			p.store.failDeletions(errors.New("the disk is gone"))
			if err := end(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, token := range tokens {
				expectFault(t, p.isOpen(user, token), codes.Unauthenticated, "LOGIN_REQUIRED")
			}
			if n := p.openSessions(user); n != 0 {
				t.Errorf("%s: %d sessions are listed", name, n)
			}
			later := p.openSession(user)
			if err := p.isOpen(user, later); err != nil {
				t.Errorf("%s: a later session: %v", name, err)
			}
			p.store.failDeletions(nil)
			p.closeAllSessions(user)
		}
	})
}

func TestASessionOpensOnlyInTheGenerationOfItsLogin(t *testing.T) {
	w := start(t)
	user := w.newLogin("a@waybook.example", "the old one").GetUserId()
	authenticate := func(password string) *int64 {
		return must(w.account.Authenticate(t.Context(), &accountv1.AuthenticateRequest{Email: "a@waybook.example", Password: password}))(t).CredentialGeneration
	}
	open := func(generation *int64) error {
		return failed(w.account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user, CredentialGeneration: generation}))
	}
	old := authenticate("the old one")
	for _, change := range []*accountv1.UpdateUserRequest{{Name: proto.String("y")}, {Email: proto.String("A@waybook.example")}} {
		change.UserId = user
		must(w.account.UpdateUser(t.Context(), change))(t)
	}
	got(t, 0, open(old))
	got(t, 0, w.setPassword(user, "the new one"))
	expectFault(t, open(old), codes.Unauthenticated, "LOGIN_REQUIRED")
	present := authenticate("the new one")
	got(t, 0, open(present))
	w.closeAllSessions(user)
	for _, ended := range []*int64{old, present, proto.Int64(*present + 2)} {
		expectFault(t, open(ended), codes.Unauthenticated, "LOGIN_REQUIRED")
	}
	got(t, 0, open(nil))
	got(t, 0, open(authenticate("the new one")))
}
