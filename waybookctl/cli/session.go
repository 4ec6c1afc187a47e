package cli

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/waybookctl/output"
)

type sessionCommands struct {
	Generated kong.Plugins `embed:""`

	Open   sessionOpen   `cmd:"" help:"Open a session for a user and print its cookie in the form of a Cookie header."`
	Verify sessionVerify `cmd:"" help:"Verify that a session is open; the exit status is 4 if it is not."`
	Close  sessionClose  `cmd:"" help:"Close a session."`
}

type sessionOpen struct {
	userID
}

// Help returns the detailed help.
func (*sessionOpen) Help() string {
	return `With --output=table, the command prints only the cookie:

    curl -b "$(waybookctl session open 890341293580625)" -d func=addAlbum … http://127.0.0.1:8080/API.php`
}

// Run opens a session.
func (c *sessionOpen) Run(ctx context.Context, call *services, out *output.Printer) error {
	opened, err := call.Account.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: c.User})
	if err != nil {
		return err
	}
	cookie := "id=" + number(opened.GetSession().GetUserId()) + "; idrand=" + opened.GetToken()
	value := append(output.FromProto(opened.GetSession()),
		output.Field{Name: "token", Value: opened.GetToken()}, output.Field{Name: "cookie", Value: cookie})
	return out.Value(value, func(page *output.Page) { page.Line(cookie) })
}

// givenCookie reads the cookie of a command. A cookie is a secret, so it is never an argument.
type givenCookie struct{}

// Help returns the detailed help.
func (givenCookie) Help() string {
	return "The command reads the cookie, as session open prints it, from standard input, and asks for it on a terminal."
}

// read reads a cookie and returns its parts.
func (givenCookie) read(ctx context.Context, from secrets) (user int64, token string, err error) {
	var line string
	if file, ok := from.terminal(); ok {
		line, err = from.ask(ctx, file, "Cookie: ")
	} else {
		line, err = from.line(ctx, "cookie")
	}
	if err != nil {
		return 0, "", err
	}
	return parseCookie(line)
}

// parseCookie returns the parts id and idrand of a cookie and ignores all others.
func parseCookie(line string) (user int64, token string, err error) {
	malformed := usageError("not a session cookie; want id=NUMBER; idrand=32 HEXADECIMAL DIGITS")
	parts, err := http.ParseCookie(strings.TrimSpace(line))
	if err != nil {
		return 0, "", malformed
	}
	for _, part := range parts {
		switch part.Name {
		case "id":
			if user, err = strconv.ParseInt(part.Value, 10, 64); err != nil {
				return 0, "", malformed
			}
		case "idrand":
			token = part.Value
		}
	}
	if user == 0 || token == "" {
		return 0, "", malformed
	}
	return user, token, nil
}

type sessionVerify struct{ givenCookie }

// Run verifies the session.
func (c *sessionVerify) Run(ctx context.Context, call *services, out *output.Printer, from secrets) error {
	user, token, err := c.read(ctx, from)
	if err != nil {
		return err
	}
	verified, err := call.Account.VerifySession(ctx, &accountv1.VerifySessionRequest{UserId: user, Token: token})
	if err != nil {
		return err
	}
	return printMessage(out, verified.GetSession())
}

type sessionClose struct {
	givenCookie

	User    int64  `arg:"" optional:"" placeholder:"USER" help:"The user, to close a session that session list shows."`
	Session string `arg:"" optional:"" placeholder:"SESSION" help:"The session's identifier."`
}

// Help returns the detailed help.
func (*sessionClose) Help() string {
	return "With a user and a session, as session list shows them, the command closes that session. Without them, it reads the\n" +
		"cookie, as session open prints it, from standard input, and asks for it on a terminal."
}

// Run closes the session.
func (c *sessionClose) Run(ctx context.Context, call *services, out *output.Printer, from secrets) error {
	request := &accountv1.CloseSessionRequest{UserId: c.User, SessionId: c.Session}
	if c.User != 0 && c.Session == "" {
		return usageError("want a user and a session, as session list shows them, or neither and a cookie")
	}
	if c.Session == "" {
		var err error
		if request.UserId, request.Token, err = c.read(ctx, from); err != nil {
			return err
		}
	}
	if _, err := call.Account.CloseSession(ctx, request); err != nil {
		return err
	}
	out.Note("the session is closed")
	return nil
}
