package edge

import (
	"context"
	"net/http"
	"strings"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// userID names the logged-in user.
type userID int64

// maxID is the highest identifier of any kind, 2^53-1.
const maxID = 1<<53 - 1

// sessionUser returns whose open session the cookie of a request names. Every
// call asks AccountService: a session that was closed is refused at once.
// A cookie that cannot name a session is refused without a call.
func (h *handler) sessionUser(ctx context.Context, header http.Header) (userID, error) {
	user, token, ok := sessionCookie(header["Cookie"])
	if !ok {
		return 0, plainFailure("LOGIN_REQUIRED")
	}
	ctx, cancel := context.WithTimeout(ctx, h.config.CallTimeout)
	defer cancel()
	_, err := h.config.Account.VerifySession(ctx, &accountv1.VerifySessionRequest{
		UserId: int64(user),
		Token:  token,
	})
	return user, err
}

// sessionCookie reads the parts `id` and `idrand` (contract 5.2) among whatever
// else the cookie holds, in any order, with or without quotes. Of a repeated
// part the last one counts, even if it is the one that is malformed: taking
// the best of several would let a second cookie choose the user.
func sessionCookie(lines []string) (user userID, token string, ok bool) {
	var id string
	for _, line := range lines {
		for line != "" {
			var part string
			part, line, _ = strings.Cut(line, ";")
			name, value, _ := strings.Cut(part, "=")
			switch strings.Trim(name, " \t") {
			case "id":
				id = unquote(value)
			case "idrand":
				token = unquote(value)
			}
		}
	}
	number, isNumber := parseInteger(id)
	if !isNumber || number < 1 || number > maxID || !isToken(token) {
		return 0, "", false
	}
	return userID(number), token, true
}

// unquote takes blanks and then one pair of double quotes away.
func unquote(value string) string {
	value = strings.Trim(value, " \t")
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
		return value[1 : n-1]
	}
	return value
}

// isToken reports whether s has the form of a session's secret: 32 lowercase
// hexadecimal digits.
func isToken(s string) bool {
	return len(s) == 32 && isHex(s)
}

// isHex reports whether s is of lowercase hexadecimal digits only.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
