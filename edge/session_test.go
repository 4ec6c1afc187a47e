package edge

import (
	"net/http"
	"testing"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
)

func TestASessionCookieIsParsedTolerantly(t *testing.T) {
	for name, lines := range map[string][]string{
		"alone":                   {"id=7; idrand=" + demoToken},
		"the other way round":     {"idrand=" + demoToken + "; id=7"},
		"among other parts":       {"lang=zh; id=7; x; =; a=b=c; idrand=" + demoToken + ";"},
		"in quotes":               {`id="7"; idrand="` + demoToken + `"`},
		"without blanks":          {"id=7;idrand=" + demoToken},
		"with many blanks":        {"  id = 7 ;\tidrand =  " + demoToken + " "},
		"over two lines":          {"id=7", "idrand=" + demoToken},
		"the last of several":     {"id=9; idrand=x; id=7; idrand=" + demoToken},
		"with leading zeros":      {"id=007; idrand=" + demoToken},
		"beside a different case": {"ID=9; id=7; IDRAND=x; idrand=" + demoToken},
	} {
		t.Run(name, func(t *testing.T) {
			session, ok := sessionCookie(lines)
			if want := (operation.Session{User: demoUser, Token: demoToken}); !ok || session != want {
				t.Errorf("got %v, %v", session, ok)
			}
		})
	}
}

func TestACookieThatCannotNameASessionIsRejected(t *testing.T) {
	for name, line := range map[string]string{
		"nothing":                "",
		"no id":                  "idrand=" + demoToken,
		"no idrand":              "id=7",
		"an id of zero":          "id=0; idrand=" + demoToken,
		"a negative id":          "id=-7; idrand=" + demoToken,
		"an id that is too high": "id=9007199254740992; idrand=" + demoToken,
		"an id that is no int64": "id=99999999999999999999; idrand=" + demoToken,
		"an id in words":         "id=seven; idrand=" + demoToken,
		"an idrand too short":    "id=7; idrand=" + demoToken[1:],
		"an idrand too long":     "id=7; idrand=0" + demoToken,
		"an idrand in capitals":  "id=7; idrand=0123456789ABCDEF0123456789ABCDEF",
		"a bad id after a good":  "id=7; id=x; idrand=" + demoToken,
		"one quote":              `id="7; idrand=` + demoToken,
	} {
		t.Run(name, func(t *testing.T) {
			if session, ok := sessionCookie([]string{line}); ok {
				t.Errorf("got %v", session)
			}
		})
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
