package edge

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/waybook/waybook/edge/failure"
	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// sessionUser returns the user whose open session the cookie names. It asks AccountService every
// time, so a closed session fails at once. It rejects a cookie that cannot name a session
// without a call.
func (h *handler) sessionUser(ctx context.Context, header http.Header) (operation.UserID, error) {
	session, ok := sessionCookie(header["Cookie"])
	if !ok {
		return 0, failure.New("LOGIN_REQUIRED")
	}
	ctx, cancel := context.WithTimeout(ctx, h.config.CallTimeout)
	defer cancel()
	_, err := h.config.Account.VerifySession(ctx,
		&accountv1.VerifySessionRequest{UserId: int64(session.User), Token: session.Token})
	return session.User, err
}

// sessionCookie reads the parts `id` and `idrand` (rule 3.2). They may come in any order, quoted
// or not, among other parts. The last of a repeated part counts, even if it is malformed.
// Otherwise a second cookie could choose the user.
func sessionCookie(lines []string) (session operation.Session, ok bool) {
	var id, token string
	for name, value := range cookieParts(lines) {
		switch name {
		case "id":
			id = value
		case "idrand":
			token = value
		}
	}
	number, isNumber := form.ParseInteger(id)
	if !isNumber || number < 1 || number > form.MaxID || !isToken(token) {
		return operation.Session{}, false
	}
	return operation.Session{User: operation.UserID(number), Token: token}, true
}

// cookieParts iterates over the parts of a cookie in several header lines, without blanks and
// quotes.
func cookieParts(lines []string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, line := range lines {
			for line != "" {
				var part string
				part, line, _ = strings.Cut(line, ";")
				name, value, _ := strings.Cut(part, "=")
				if !yield(strings.Trim(name, " \t"), unquote(value)) {
					return
				}
			}
		}
	}
}

// unquote removes surrounding blanks, and then one pair of double quotes.
func unquote(value string) string {
	value = strings.Trim(value, " \t")
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
		return value[1 : n-1]
	}
	return value
}

// isToken reports whether s has the form of the secret of a session: 32 lowercase hexadecimal
// digits.
func isToken(s string) bool {
	if len(s) != 32 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// cookieDate is the form of dates in cookies since Netscape's. Browsers read it as they read that
// of HTTP, and clients that know only this one are still in use (docs/decisions/edge.md).
const cookieDate = "Mon, 02-Jan-2006 15:04:05 GMT"

// setCookie sets a part of the cookie, until a time. A time in the past makes the client delete
// it. Clients that know Max-Age ignore Expires; older ones need it.
func setCookie(w http.ResponseWriter, name, value string, expires time.Time, isSecure bool) {
	age := int(time.Until(expires) / time.Second)
	if age <= 0 {
		age, expires = -1, time.Unix(1, 0)
	}
	cookie := http.Cookie{ // #nosec G124 -- Secure as CookieSecure says
		Name: name, Value: value, Path: "/", MaxAge: age,
		Secure: isSecure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	w.Header().Add("Set-Cookie", cookie.String()+"; Expires="+expires.UTC().Format(cookieDate))
}
