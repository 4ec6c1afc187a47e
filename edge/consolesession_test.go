package edge

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// adopting is an edge with a console.
func adopting(t *testing.T, changes ...func(*Config)) http.Handler {
	return newEdge(t, &fakes{}, append(changes, func(c *Config) { c.HasConsole = true })...)
}

// adopt returns a POST of a form to SessionPath.
func adopt(form string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, SessionPath, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

const pasted = "id=7&idrand=" + demoToken

func TestAPastedSessionBecomesTheCookieOfALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // for a clock that does not advance
		w := record(adopting(t), adopt(pasted))
		if want := `{"status":"SUCCESS"}`; w.Body.String() != want {
			t.Errorf("got %s", w.Body)
		}
		expires := time.Now().Add(demoSessionTime).UTC().Format(cookieDate)
		if diff := cmp.Diff([]string{
			"id=7; Path=/; Max-Age=5400; HttpOnly; SameSite=Lax; Expires=" + expires,
			"idrand=" + demoToken + "; Path=/; Max-Age=5400; HttpOnly; SameSite=Lax; Expires=" + expires,
		}, w.Header()["Set-Cookie"]); diff != "" {
			t.Error(diff)
		}
		if got := w.Header().Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control: %s", got)
		}
	})
}

func TestAPastedSessionThatIsNotOpenSetsNoCookie(t *testing.T) {
	for form, reason := range map[string]string{
		"id=8&idrand=" + demoToken:                   "LOGIN_REQUIRED",
		"id=7&idrand=" + strings.Repeat("0", 32):     "LOGIN_REQUIRED",
		"id=7&idrand=":                               "INVALID_PARAMETER",
		"id=&idrand=" + demoToken:                    "INVALID_PARAMETER",
		"id=0&idrand=" + demoToken:                   "INVALID_PARAMETER",
		"id=-7&idrand=" + demoToken:                  "INVALID_PARAMETER",
		"id=9007199254740992&idrand=" + demoToken:    "INVALID_PARAMETER",
		"id=7&idrand=" + strings.ToUpper(demoToken):  "INVALID_PARAMETER",
		"id=7%0D%0ASet-Cookie:x&idrand=" + demoToken: "INVALID_PARAMETER",
		"idrand=" + demoToken:                        "MISSING_PARAMETER",
		"":                                           "MISSING_PARAMETER",
	} {
		w := record(adopting(t), adopt(form))
		if got := w.Header().Get("X-Waybook-Reason"); got != reason || len(w.Header()["Set-Cookie"]) > 0 {
			t.Errorf("%s: got %s and the cookies %s", form, got, w.Header()["Set-Cookie"])
		}
	}
}

func TestASessionIsPastedOnlyInTheBodyOfAPostOfTheOwnSite(t *testing.T) {
	inQuery := adopt("")
	inQuery.URL.RawQuery = pasted
	byOther := adopt(pasted)
	byOther.Header.Set("Sec-Fetch-Site", "cross-site")
	byNull := adopt(pasted)
	byNull.Header.Set("Origin", "null")
	byPut := adopt(pasted)
	byPut.Method = http.MethodPut
	for reason, requests := range map[string][]*http.Request{
		"INVALID_PARAMETER":  {inQuery},
		"CROSS_SITE_REQUEST": {byOther, byNull},
		"METHOD_NOT_ALLOWED": {byPut},
	} {
		for _, request := range requests {
			w := record(adopting(t), request)
			if got := w.Header().Get("X-Waybook-Reason"); got != reason || len(w.Header()["Set-Cookie"]) > 0 {
				t.Errorf("got %s, want %s; cookies %s", got, reason, w.Header()["Set-Cookie"])
			}
		}
	}
}

func TestThePastingOfSessionsIsLimitedAsRequestsAre(t *testing.T) {
	var reasons []string
	h := adopting(t, func(c *Config) {
		c.Load = newLoad(&Flags{ClientRate: 0.1})
		c.Observe = func(_ *http.Request, a Answer) { reasons = append(reasons, a.Function+" "+a.Reason) }
	})
	record(h, adopt(pasted))
	record(h, adopt(pasted))
	if diff := cmp.Diff([]string{SessionPath + " ", " TOO_MANY_REQUESTS"}, reasons); diff != "" {
		t.Error(diff)
	}
}

func TestThePageLearnsWhoseSessionTheCookieNames(t *testing.T) {
	for cookie, want := range map[string]string{
		demoCookie:                  `{"status":"SUCCESS","id":7}`,
		"":                          `{"status":"SUCCESS"}`,
		"id=8; idrand=" + demoToken: `{"status":"SUCCESS"}`,
	} {
		r := httptest.NewRequest(http.MethodGet, SessionPath+"?"+pasted, nil)
		r.Header.Set("Cookie", cookie)
		w := record(adopting(t), r)
		if w.Body.String() != want || len(w.Header()["Set-Cookie"]) > 0 || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("with the cookie %q: got %s, cookies %s", cookie, w.Body, w.Header()["Set-Cookie"])
		}
	}
}
