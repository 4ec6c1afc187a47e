package cli

import (
	"context"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type sessionCommands struct {
	List  sessionList  `cmd:"" help:"List a user's open sessions, without their secrets."`
	Close sessionClose `cmd:"" help:"Close one session of a user, or all."`
}

type sessionList struct{ owned }

func (c *sessionList) Run(ctx context.Context, call *services, out *output.Printer) error {
	request := &accountv1.ListSessionsRequest{UserId: c.Owner}
	return sessions.list(out, pages(ctx, c.limit, call.Account.ListSessions, request,
		(*accountv1.ListSessionsResponse).GetSessions))
}

type sessionClose struct {
	Owner   int64  `required:"" placeholder:"USER" help:"The owner."`
	Session string `arg:"" optional:"" help:"Session to close, as session list shows it."`
	All     bool   `help:"Close all sessions, and end logins that are under way."`
}

func (c *sessionClose) Run(ctx context.Context, call *services, out *output.Printer) error {
	if c.All == (c.Session != "") {
		return usageError("give either a session, as session list shows it, or --all")
	}
	if !c.All {
		if _, err := call.Account.CloseSession(ctx,
			&accountv1.CloseSessionRequest{UserId: c.Owner, SessionId: c.Session}); err != nil {
			return err
		}
		out.Note("closed %s", c.Session)
		return nil
	}
	closed, err := call.Account.CloseAllSessions(ctx, &accountv1.CloseAllSessionsRequest{UserId: c.Owner})
	if err != nil {
		return err
	}
	return out.Value(output.FromProto(closed), func(page *output.Page) {
		count := "all" // when they could not be counted
		if closed.ClosedCount != nil {
			count = number(closed.GetClosedCount())
		}
		page.Line("closed " + count + " sessions")
	})
}
