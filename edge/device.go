package edge

import (
	"slices"
	"strings"

	"github.com/waybook/waybook/edge/form"
)

// deviceCookie is the part of the cookie with the client's device tokens, joined by dots. Each
// is a secret. A client has one for each user who has logged in from it, so that people who share
// a browser do not displace each other. Logging out leaves it alone (rule 12.11).
const deviceCookie = "waybook_device"

// maxDeviceTokens bounds the device tokens of a client. The account service takes no more.
const maxDeviceTokens = 4

// deviceTokens returns the device tokens of a cookie, the newest first. It ignores malformed
// ones. Of a repeated part the last one counts.
func deviceTokens(lines []string) []string {
	var joined string
	for name, value := range cookieParts(lines) {
		if name == deviceCookie {
			joined = value
		}
	}
	var tokens []string
	for token := range strings.SplitSeq(joined, ".") {
		if len(tokens) < maxDeviceTokens && isDeviceToken(token) && !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// isDeviceToken reports whether s has the form of a device token: the user's identifier, a hyphen
// and a secret.
func isDeviceToken(s string) bool {
	id, secret, _ := strings.Cut(s, "-")
	number, isNumber := form.ParseInteger(id)
	return isNumber && number >= 1 && number <= form.MaxID && id[0] != '0' && isToken(secret)
}

// joinTokens returns the value of the cookie with a token in front of the others. The oldest one
// goes if there are too many.
func joinTokens(token string, others []string) string {
	tokens := append([]string{token}, slices.DeleteFunc(others, func(other string) bool { return other == token })...)
	return strings.Join(tokens[:min(len(tokens), maxDeviceTokens)], ".")
}
