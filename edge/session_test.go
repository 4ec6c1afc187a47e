package edge

import (
	"net/http"
	"testing"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
)

func TestASessionCookieIsParsedTolerantly(t *testing.T) {
	for line, isSession := range map[string]bool{
		"  id = 7 ;\tidrand =  " + demoToken + " ":  true,
		"id=9; idrand=x; id=7; idrand=" + demoToken: true,
		"id=7; id=x; idrand=" + demoToken:           false,
		"id=007; idrand=" + demoToken:               true,
		"id=7; idrand=" + demoToken[1:]:             false,
		`id="7; idrand=` + demoToken:                false,
	} {
		session, ok := sessionCookie([]string{line})
		if ok != isSession || ok && session != (operation.Session{User: demoUser, Token: demoToken}) {
			t.Errorf("%q: got %v, %v", line, session, ok)
		}
	}
}

func FuzzSessionCookieNeverNamesAnImpossibleSession(f *testing.F) {
	f.Add(demoCookie)
	f.Add(`id="7";idrand="` + demoToken + `";id==;;`)
	f.Fuzz(func(t *testing.T, line string) {
		session, ok := sessionCookie([]string{line})
		if ok && (session.User < 1 || session.User > form.MaxID || !isToken(session.Token)) {
			t.Fatalf("%q: %v", line, session)
		}
		// If the standard library accepts the line, sessionCookie reads the same parts.
		cookies, err := http.ParseCookie(line)
		if err != nil || !ok {
			return
		}
		last := map[string]string{}
		for _, c := range cookies {
			last[c.Name] = c.Value
		}
		if id, known := form.ParseInteger(last["id"]); known && (operation.UserID(id) != session.User || last["idrand"] != session.Token) {
			t.Fatalf("%q: %v, want %v %q", line, session, id, last["idrand"])
		}
	})
}
