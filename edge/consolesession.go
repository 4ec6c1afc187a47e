package edge

import (
	"context"
	"net/http"
	"strings"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/edge/reply"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// SessionPath is where the console asks whose session the browser has, and gives it one that was
// opened elsewhere. Its replies are JSON. It is served only with Config.HasConsole.
const SessionPath = "/console/session"

// The parameters of SessionPath (rule 16.5). Both are empty to remove the session.
var (
	paramSessionID    = form.Parameter{Name: "id", Hint: "1 to 9007199254740991, or empty with idrand"}
	paramSessionToken = form.Parameter{Name: "idrand", Hint: "32 lowercase hexadecimal digits, or empty with id"}
)

// serveSession answers a request to SessionPath. The caller has read the form.
func (h *handler) serveSession(x *exchange) error {
	if err := x.turn.begin(x.request.Context(), operation.Writes); err != nil {
		return err
	}
	if x.request.Method == http.MethodPost {
		return h.adoptSession(x)
	}
	return h.showSession(x)
}

// showSession writes the id of the user whose open session the cookie names, or no id and who may
// register. No script can read the cookie, so the page asks.
func (h *handler) showSession(x *exchange) error {
	user, err := h.sessionUser(x.request.Context(), x.request.Header)
	if err != nil {
		if f := operation.FailureOf(err, &x.op.In.Reader); f.Reason != "LOGIN_REQUIRED" {
			return err
		}
		user = 0
	}
	out := x.op.Out.Writer
	reply.StartSuccess(out)
	if user != 0 {
		out.Integer("id", int64(user))
	} else if mode := h.registration(x.request.Context()); mode != "" {
		out.Text("registration", mode)
	}
	out.Finish()
	return nil
}

// registration returns who may register: closed, open or invite; empty while that is unknown.
func (h *handler) registration(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, h.config.CallTimeout)
	defer cancel()
	found, err := h.config.Account.GetRegistration(ctx, &accountv1.GetRegistrationRequest{})
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(found.GetRegistration().String(), "REGISTRATION_"))
}

// adoptSession sets the cookie of an open session, as login does, so that no script can read it.
// It makes the browser forget its session if the parameters are empty; the session stays open.
func (h *handler) adoptSession(x *exchange) error {
	if err := h.sites.refuseOthers(x.request); err != nil {
		return err
	}
	in := &x.op.In.Reader
	user := form.RequiredInBody(in, &paramSessionID, "", asSessionID)
	token := form.RequiredInBody(in, &paramSessionToken, "", asSessionToken(user == 0))
	if f := in.Failure(); f != nil {
		return f
	}
	if user == 0 {
		x.DropSession()
	} else if err := h.keepOpenSession(x, operation.Session{User: user, Token: token}); err != nil {
		return err
	}
	reply.StartSuccess(x.op.Out.Writer)
	x.op.Out.Finish()
	return nil
}

// keepOpenSession gives the client a session for as long as it is open.
func (h *handler) keepOpenSession(x *exchange, session operation.Session) error {
	ctx, cancel := context.WithTimeout(x.request.Context(), h.config.CallTimeout)
	defer cancel()
	verified, err := h.config.Account.VerifySession(ctx, &accountv1.VerifySessionRequest{
		UserId: int64(session.User), Token: session.Token,
	})
	if err != nil {
		return err
	}
	x.KeepSession(session, verified.GetSession().GetExpireTime().AsTime())
	return nil
}

// asSessionID accepts the identifier of a user, or an empty value for none.
func asSessionID(s string) (operation.UserID, bool) {
	if s == "" {
		return 0, true
	}
	id, ok := form.ParseInteger(s)
	return operation.UserID(id), ok && 1 <= id && id <= form.MaxID
}

// asSessionToken accepts the secret of a session, or only an empty value if there is no user.
func asSessionToken(isEmpty bool) func(string) (string, bool) {
	return func(s string) (string, bool) { return s, isEmpty && s == "" || !isEmpty && isToken(s) }
}
