package edge

import (
	"strconv"
	"time"

	"github.com/waybook/waybook/edge/operation"
)

// An exchange implements operation.Caller: the client of its request.

// Address returns the key that tells this client apart from others.
func (x *exchange) Address() string { return clientKey(x.config.TrustedProxies.client(x.request)) }

// Session returns the session that the request's cookie names.
func (x *exchange) Session() (session operation.Session, ok bool) {
	return sessionCookie(x.request.Header["Cookie"])
}

// KeepSession sets both parts of a session's cookie, until the session expires.
func (x *exchange) KeepSession(session operation.Session, expires time.Time) {
	x.setCookies(strconv.FormatInt(int64(session.User), 10), session.Token, expires)
}

// DropSession makes the client delete the cookie.
func (x *exchange) DropSession() { x.setCookies("", "", time.Time{}) }

func (x *exchange) setCookies(id, token string, expires time.Time) {
	isSecure := x.config.CookieSecure == SecureAlways || x.config.TrustedProxies.isSecure(x.request)
	setCookies(x.response.writer, id, token, expires, isSecure)
}
