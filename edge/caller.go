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
	x.setCookie("id", strconv.FormatInt(int64(session.User), 10), expires)
	x.setCookie("idrand", session.Token, expires)
}

// DropSession makes the client delete the session's cookie.
func (x *exchange) DropSession() {
	x.setCookie("id", "", time.Time{})
	x.setCookie("idrand", "", time.Time{})
}

// Devices returns the device tokens that the request's cookie names, the newest first.
func (x *exchange) Devices() []string { return deviceTokens(x.request.Header["Cookie"]) }

// KeepDevice adds a device token to the cookie's.
func (x *exchange) KeepDevice(token string, expires time.Time) {
	x.setCookie(deviceCookie, joinTokens(token, x.Devices()), expires)
}

func (x *exchange) setCookie(name, value string, expires time.Time) {
	isSecure := x.config.CookieSecure == SecureAlways || x.config.TrustedProxies.isSecure(x.request)
	setCookie(x.response.writer, name, value, expires, isSecure)
}
