package rpc_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func (p *parts) invite() string {
	p.t.Helper()
	return must(p.Account.CreateInvitation(p.t.Context(), &accountv1.CreateInvitationRequest{}))(p.t).GetCode()
}

// registration returns a request of one of some strangers behind an address.
func registration(of int, invitation string) *accountv1.RegisterUserRequest {
	return &accountv1.RegisterUserRequest{
		RequestId: requestID(of), Email: fmt.Sprintf("%d@waybook.example", of), Password: "a long password", Name: "x",
		Invitation: invitation, ClientAddress: "192.0.2.1",
	}
}

func TestOneInvitationMakesOneUserOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		policy := must(p.Account.GetRegistration(t.Context(), &accountv1.GetRegistrationRequest{}))(t)
		if want := accountv1.Registration_REGISTRATION_INVITE; policy.GetRegistration() != want {
			t.Errorf("got %v, want %v", policy, want)
		}
		code := p.invite()
		var made atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				switch err := failed(p.Account.RegisterUser(t.Context(), registration(i, code))); status.Code(err) {
				case codes.OK:
					made.Store(int64(i))
				default:
					expectFault(t, err, codes.PermissionDenied, "INVITATION_INVALID")
				}
			})
		}
		group.Wait()
		users := must(p.Account.ListUsers(t.Context(), &accountv1.ListUsersRequest{}))(t).GetUsers()
		if len(users) != 1 || users[0].GetEmail() != registration(int(made.Load()), "").GetEmail() {
			t.Fatalf("the users are %v", users)
		}
		again := must(p.Account.RegisterUser(t.Context(), registration(int(made.Load()), code)))(t).GetUser()
		if again.GetUserId() != users[0].GetUserId() {
			t.Errorf("a repeat made %v", again)
		}
		p.expectLogin(again.GetEmail(), "a long password", again.GetUserId())
	})
}

func TestAUserChangesThePasswordAndKeepsTheSessionOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, p *parts) {
		user := p.newLogin("a@waybook.example", "the first password").GetUserId()
		open := func() string {
			return must(p.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user}))(t).GetToken()
		}
		verify := func(token string) error {
			return failed(p.Account.VerifySession(t.Context(), &accountv1.VerifySessionRequest{UserId: user, Token: token}))
		}
		asking, other := open(), open()
		change := &accountv1.ChangePasswordRequest{ActorId: user, Token: asking, OldPassword: "a guess", NewPassword: "the second password"}
		expectFault(t, failed(p.Account.ChangePassword(t.Context(), change)), codes.Unauthenticated, "PASSWORD_INCORRECT")
		change.OldPassword = "the first password"
		if closed := must(p.Account.ChangePassword(t.Context(), change))(t).GetClosedCount(); closed != 1 {
			t.Errorf("%d sessions were closed", closed)
		}
		expectFault(t, verify(other), codes.Unauthenticated, "LOGIN_REQUIRED")
		p.expectNoLogin("a@waybook.example", "the first password")
		p.expectLogin("a@waybook.example", "the second password", user)
		listed := must(p.Account.ListSessions(t.Context(), &accountv1.ListSessionsRequest{UserId: user, Token: asking}))(t).GetSessions()
		current := 0
		for _, each := range listed {
			if each.GetCurrent() {
				current++
			}
		}
		if err := verify(asking); err != nil || len(listed) != 2 || current != 1 {
			t.Errorf("%v; the sessions are %v", err, listed)
		}
		must(p.Account.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user, KeptToken: asking}))(t)
		if err := verify(asking); err != nil {
			t.Error(err)
		}
		must(p.Account.CloseAllSessions(t.Context(), &accountv1.CloseAllSessionsRequest{UserId: user}))(t)
		expectFault(t, verify(asking), codes.Unauthenticated, "LOGIN_REQUIRED")
	})
}
