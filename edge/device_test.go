package edge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// deviceToken returns the n-th device token of a test.
func deviceToken(n int) string { return fmt.Sprintf("%d-%032x", n, n) }

func TestADeviceCookieIsParsedTolerantlyAndBounded(t *testing.T) {
	one, two, three, four, five := deviceToken(1), deviceToken(2), deviceToken(3), deviceToken(4), deviceToken(5)
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"none":                 {[]string{demoCookie}, nil},
		"an empty one":         {[]string{"waybook_device="}, nil},
		"one":                  {[]string{"waybook_device=" + one}, []string{one}},
		"one in quotes":        {[]string{demoCookie, ` waybook_device = "` + one + `" ; x=y`}, []string{one}},
		"several":              {[]string{"waybook_device=" + one + "." + two}, []string{one, two}},
		"the last of repeated": {[]string{"waybook_device=" + one, "waybook_device=" + two}, []string{two}},
		"malformed ones":       {[]string{"waybook_device=x." + one + ".." + two[1:] + ".0" + two + "." + two + "0." + demoToken + ".9007199254740992" + two[1:] + "." + three}, []string{one, three}},
		"the same twice":       {[]string{"waybook_device=" + one + "." + one + "." + two}, []string{one, two}},
		"too many":             {[]string{"waybook_device=" + strings.Join([]string{one, two, three, four, five}, ".")}, []string{one, two, three, four}},
	} {
		if got := deviceTokens(c.lines); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestALoginSendsTheDeviceTokensAndKeepsThemBehindItsOwn(t *testing.T) {
	tokens := []string{deviceToken(1), deviceToken(2), deviceToken(3), deviceToken(4)}
	for name, c := range map[string]struct{ returned, want string }{
		"a new token":   {demoDevice, strings.Join([]string{demoDevice, tokens[0], tokens[1], tokens[2]}, ".")},
		"a known token": {tokens[2], strings.Join([]string{tokens[2], tokens[0], tokens[1], tokens[3]}, ".")},
		"no token":      {"", ""},
	} {
		f := &fakes{answer: func(ctx context.Context, request proto.Message) (proto.Message, error) {
			reply, err := letIn(ctx, request)
			if authenticated, ok := reply.(*accountv1.AuthenticateResponse); ok {
				authenticated.DeviceToken = c.returned
			}
			return reply, err
		}}
		r := cookieless(loginForm)
		r.Header.Set("Cookie", demoCookie+"; waybook_device="+strings.Join(tokens, "."))
		kept := ""
		for _, cookie := range record(newEdge(t, f), r).Result().Cookies() {
			if cookie.Name == deviceCookie {
				kept = cookie.Value
			}
		}
		if kept != c.want {
			t.Errorf("%s: the cookie is %q, want %q", name, kept, c.want)
		}
		if sent := f.called()[0].(*accountv1.AuthenticateRequest).GetDeviceTokens(); !slices.Equal(sent, tokens) {
			t.Errorf("%s: sent %v", name, sent)
		}
	}
}

func FuzzDeviceTokensAreFewWellFormedAndDifferent(f *testing.F) {
	f.Add("waybook_device=" + demoDevice + "." + deviceToken(9))
	f.Add(demoCookie + `;waybook_device="` + demoDevice + `"`)
	f.Fuzz(func(t *testing.T, line string) {
		tokens := deviceTokens([]string{line})
		if len(tokens) > maxDeviceTokens {
			t.Fatalf("%q: %d tokens", line, len(tokens))
		}
		for i, token := range tokens {
			if !isDeviceToken(token) || slices.Contains(tokens[:i], token) {
				t.Fatalf("%q: %q", line, tokens)
			}
		}
		// The cookie with one more token reads back the same.
		joined := joinTokens(demoDevice, slices.Clone(tokens))
		again := deviceTokens([]string{"waybook_device=" + joined})
		if again[0] != demoDevice || strings.Join(again, ".") != joined {
			t.Fatalf("%q: %q reads back as %q", line, joined, again)
		}
	})
}
