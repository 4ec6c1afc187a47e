package cli

import (
	"fmt"
	"testing"
)

const token = "0123456789abcdef0123456789abcdef"

func TestACookieIsReadInAnyOrderAmongOtherParts(t *testing.T) {
	for _, line := range []string{
		"id=12; idrand=" + token, "idrand=" + token + "; id=12", ` theme=dark; id="12"; idrand=` + token + ` `,
	} {
		user, secret, err := parseCookie(line)
		if err != nil || user != 12 || secret != token {
			t.Errorf("%q is %d, %q, %v", line, user, secret, err)
		}
	}
}

func TestAnInvalidCookieIsAUsageError(t *testing.T) {
	for _, line := range []string{token, "id=12", "idrand=" + token, "id=x; idrand=" + token, ";;", "id=99999999999999999999; idrand=" + token} {
		runWith(t.Context(), nil, line+"\n", "session", "verify").expect(t, statusUsage, "not a session cookie")
		if _, _, err := parseCookie(line); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

func FuzzACookieReadsBack(f *testing.F) {
	f.Add("id=12; idrand=" + token)
	f.Add(`idrand="x"; a; id=1`)
	f.Fuzz(func(t *testing.T, line string) {
		user, secret, err := parseCookie(line)
		if err != nil {
			return
		}
		again, same, err := parseCookie(fmt.Sprintf(`id=%d; idrand="%s"`, user, secret))
		if err != nil || again != user || same != secret {
			t.Errorf("%q is %d, %q, which reads back as %d, %q, %v", line, user, secret, again, same, err)
		}
	})
}
