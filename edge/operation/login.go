package operation

import (
	"context"
	"time"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/reply"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// login opens a session if the password is right (rules 12.1 to 12.7). It returns the session as
// elements for programs, and as the cookie of rule 3.2 for browsers. The account service opens it
// for the password only: the edge can open none by itself.
func login(c *Config) Function {
	return Function{
		Name: "login", Rule: "12.1", Title: form.Title{"Log in", "登入"}, Effect: Writes, IsAddition: true,
		IsOfLogin: true, IsForStrangers: true,
		Operations: only(handler{asMessage(authenticateRequest), func(ctx context.Context, x *Exchange) error {
			request := authenticateRequest(&x.In)
			if err := x.In.complaint(request); err != nil {
				return err
			}
			ctx, cancel := c.callContext(ctx)
			defer cancel()
			opened, err := c.Account.Authenticate(ctx, request)
			if err != nil {
				return err
			}
			user := opened.GetUser().GetUserId()
			x.In.Caller.KeepSession(Session{UserID(user), opened.GetToken()},
				opened.GetSession().GetExpireTime().AsTime())
			out := x.Out.Writer
			reply.StartSuccess(out)
			out.Integer("id", user)
			out.Text("idrand", opened.GetToken())
			out.Finish()
			return nil
		}}),
	}
}

var (
	paramEmail    = form.Parameter{Name: "email", Title: form.Title{"Email", "電子郵件"}, Hint: "1 to 254 bytes"}
	paramPassword = form.Parameter{Name: "password", Title: form.Title{"Password", "密碼"}, Hint: "1 to 200 characters"}
)

func authenticateRequest(in *Input) *accountv1.AuthenticateRequest {
	return &accountv1.AuthenticateRequest{
		Email:         form.RequiredInBody(&in.Reader, &paramEmail, "email", form.Text),
		Password:      form.RequiredInBody(&in.Reader, &paramPassword, "password", form.Text),
		ClientAddress: in.Caller.Address(),
	}
}

// logout closes the session that the client presents and deletes its cookie (rule 12.8). It
// succeeds without a session, too. If it fails, the session stays open and the client keeps the
// cookie (rule 12.9).
func logout(c *Config) Function {
	return Function{
		Name: "logout", Rule: "12.8", Title: form.Title{"Log out", "登出"}, Effect: Writes, IsAddition: true,
		IsOfLogin: true, IsForStrangers: true,
		Operations: only(handler{nil, func(ctx context.Context, x *Exchange) error {
			if session, ok := x.In.Caller.Session(); ok {
				ctx, cancel := c.callContext(ctx)
				defer cancel()
				request := &accountv1.CloseSessionRequest{UserId: int64(session.User), Token: session.Token}
				if _, err := c.Account.CloseSession(ctx, request); err != nil {
					return err
				}
			}
			x.In.Caller.DropSession()
			reply.StartSuccess(x.Out.Writer)
			x.Out.Finish()
			return nil
		}}),
	}
}

// nobody is a Caller without a session, for a request that is only described.
type nobody struct{}

func (nobody) Address() string                { return "" }
func (nobody) Session() (Session, bool)       { return Session{}, false }
func (nobody) KeepSession(Session, time.Time) {}
func (nobody) DropSession()                   {}
