package peer

import "strings"

// maxCookieBytes bounds the cookie of a session.
const maxCookieBytes = 4096

// SessionCookie returns the parts of a cookie's header lines that name a session (rule 3.2), as a
// header line; "" if there are none, or they are too long. Other parts concern only the server that
// set them.
func SessionCookie(lines []string) string {
	var parts []string
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ";") {
			name, _, _ := strings.Cut(part, "=")
			if name = strings.Trim(name, " \t"); name == "id" || name == "idrand" {
				parts = append(parts, strings.Trim(part, " \t"))
			}
		}
	}
	cookie := strings.Join(parts, "; ")
	if len(cookie) > maxCookieBytes {
		return ""
	}
	return cookie
}
