package edge

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/platform/admission"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
)

func proxies(tb testing.TB, value string) TrustedProxies {
	tb.Helper()
	var t TrustedProxies
	if err := t.Set(value); err != nil {
		tb.Fatal(err)
	}
	return t
}

// from returns a request of a peer, with the given lines of X-Forwarded-For.
func from(peer string, forwardedFor ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, Path, nil)
	r.RemoteAddr = peer
	if len(forwardedFor) > 0 {
		r.Header["X-Forwarded-For"] = forwardedFor
	}
	return r
}

func TestTheClientIsThePeerOrTheAddressFromTheTrustedProxies(t *testing.T) {
	for _, c := range []struct {
		name, trusted, peer string
		forwardedFor        []string
		want                string
	}{
		{name: "no proxy is trusted", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1"}, want: "10.0.0.1"},
		{name: "the peer is not trusted", trusted: "10.0.0.0/8", peer: "203.0.113.5:80", forwardedFor: []string{"192.0.2.1"}, want: "203.0.113.5"},
		{name: "the peer is a proxy", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1"}, want: "192.0.2.1"},
		{name: "the client invented an address", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"198.51.100.9, 192.0.2.1"}, want: "192.0.2.1"},
		{name: "the client invented a proxy", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"198.51.100.9, 10.9.9.9, 192.0.2.1"}, want: "192.0.2.1"},
		{name: "several proxies", trusted: "10.0.0.0/8,fd00::/8", peer: "10.0.0.1:80", forwardedFor: []string{"198.51.100.9,192.0.2.1 ,\tfd00::1", "10.0.0.2"}, want: "192.0.2.1"},
		{name: "only proxies", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"10.0.0.3, 10.0.0.2"}, want: "10.0.0.1"},
		{name: "a proxy without the header", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", want: "10.0.0.1"},
		{name: "a proxy with a malformed header", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1, unknown"}, want: "10.0.0.1"},
		{name: "a malformed entry before a proxy", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"x, 10.9.9.9"}, want: "10.0.0.1"},
		{name: "very many proxies", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1" + strings.Repeat(",10.0.0.2", maxHops)}, want: "10.0.0.1"},
		{name: "an unclosed bracket", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1, [::1"}, want: "10.0.0.1"},
		{name: "an empty item", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1,,10.0.0.2"}, want: "10.0.0.1"},
		{name: "an empty header", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{""}, want: "10.0.0.1"},
		{name: "a port", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1:5000"}, want: "192.0.2.1"},
		{name: "IPv6", trusted: "::1/128", peer: "[::1]:80", forwardedFor: []string{"2001:db8::7"}, want: "2001:db8::7"},
		{name: "IPv6 in brackets", trusted: "::1/128", peer: "[::1]:80", forwardedFor: []string{"[2001:db8::7]"}, want: "2001:db8::7"},
		{name: "IPv6 with a port", trusted: "::1/128", peer: "[::1]:80", forwardedFor: []string{"[2001:db8::7]:443"}, want: "2001:db8::7"},
		{name: "IPv4 written as IPv6", trusted: "10.0.0.0/8", peer: "[::ffff:10.0.0.1]:80", forwardedFor: []string{"::ffff:192.0.2.1"}, want: "192.0.2.1"},
		{name: "a peer with a zone", trusted: "fe80::/10", peer: "[fe80::1%eth0]:80", forwardedFor: []string{"192.0.2.1"}, want: "192.0.2.1"},
		{name: "a Unix socket", trusted: "0.0.0.0/0,::/0", peer: "@", forwardedFor: []string{"192.0.2.1"}, want: "invalid IP"},

		{name: "one proxy that replaces the header", trusted: "1", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1"}, want: "192.0.2.1"},
		{name: "one proxy that appends", trusted: "1", peer: "10.0.0.1:80", forwardedFor: []string{"x, 10.9.9.9, 192.0.2.1"}, want: "192.0.2.1"},
		{name: "one proxy that appends a line", trusted: "1", peer: "10.0.0.1:80", forwardedFor: []string{"x, 10.9.9.9", "10.244.0.1"}, want: "10.244.0.1"},
		{name: "two proxies", trusted: "2", peer: "10.0.0.1:80", forwardedFor: []string{"198.51.100.9, 192.0.2.1", "10.0.0.2"}, want: "192.0.2.1"},
		{name: "two proxies, one of which was passed by", trusted: "2", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1"}, want: "10.0.0.1"},
		{name: "a proxy without the header, by number", trusted: "1", peer: "10.0.0.1:80", want: "10.0.0.1"},
		{name: "a malformed address of the client", trusted: "1", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1, unknown"}, want: "10.0.0.1"},
		{name: "an empty address of the client", trusted: "1", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1,"}, want: "10.0.0.1"},
		{name: "a malformed address of a proxy", trusted: "2", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1, unknown"}, want: "10.0.0.1"},
		{name: "a proxy on a Unix socket", trusted: "1", peer: "@", forwardedFor: []string{"192.0.2.1"}, want: "192.0.2.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := proxies(t, c.trusted).client(from(c.peer, c.forwardedFor...))
			if got.String() != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAConnectionIsSecureWithTLSOrWhenATrustedProxyReportsTLS(t *testing.T) {
	for _, c := range []struct {
		name, trusted, peer  string
		forwardedFor, protos []string
		want                 bool
	}{
		{name: "plain", trusted: "10.0.0.0/8", peer: "192.0.2.1:80"},
		{name: "an untrusted peer claims TLS", trusted: "10.0.0.0/8", peer: "192.0.2.1:80", protos: []string{"https"}},
		{name: "nobody is trusted", peer: "10.0.0.1:80", protos: []string{"https"}},
		{name: "a trusted proxy reports TLS", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", protos: []string{"HTTPS"}, want: true},
		{name: "a trusted proxy reports no TLS", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", protos: []string{"http"}},
		{name: "a trusted proxy without the header", trusted: "10.0.0.0/8", peer: "10.0.0.1:80"},
		{name: "the only proxy", trusted: "1", peer: "192.0.2.1:80", protos: []string{"https"}, want: true},
		{name: "the only proxy without the header", trusted: "1", peer: "192.0.2.1:80"},
		{name: "the client claimed TLS", trusted: "1", peer: "192.0.2.1:80", protos: []string{"https, http"}},
		{name: "the client claimed no TLS", trusted: "1", peer: "192.0.2.1:80", protos: []string{"http", " https "}, want: true},

		{name: "two proxies", trusted: "2", peer: "10.0.0.1:80", protos: []string{"https,https"}, want: true},
		{name: "two proxies, each with a line", trusted: "2", peer: "10.0.0.1:80", protos: []string{"https", "http"}, want: true},
		{name: "two proxies, TLS between them", trusted: "2", peer: "10.0.0.1:80", protos: []string{"http,\thttps"}},
		{name: "two proxies, and the client claimed TLS", trusted: "2", peer: "10.0.0.1:80", protos: []string{"https, http, https"}},
		{name: "two proxies, one of which reports", trusted: "2", peer: "10.0.0.1:80", protos: []string{"https"}, want: true},
		{name: "two proxies with a malformed address", trusted: "2", peer: "10.0.0.1:80", forwardedFor: []string{"unknown"}, protos: []string{"https, http"}, want: true},

		{name: "two networks", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1, 10.0.0.2"}, protos: []string{"https, http"}, want: true},
		{name: "two networks, and the client claimed TLS", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"192.0.2.1, 10.0.0.2"}, protos: []string{"https, http, https"}},
		{name: "one network, and the client claimed TLS", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"10.9.9.9, 192.0.2.1"}, protos: []string{"https, http"}},
		{name: "a client among the proxies", trusted: "10.0.0.0/8", peer: "10.0.0.1:80", forwardedFor: []string{"10.0.0.3", "10.0.0.2"}, protos: []string{"https, http"}, want: true},
	} {
		r := from(c.peer, c.forwardedFor...)
		r.Header["X-Forwarded-Proto"] = c.protos
		if got := proxies(t, c.trusted).isSecure(r); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
	overTLS := from("192.0.2.1:80")
	overTLS.TLS = &tls.ConnectionState{}
	if !proxies(t, "10.0.0.0/8").isSecure(overTLS) {
		t.Error("a TLS connection is not secure")
	}
}

// For any header of the client, the address that the proxy appends counts, and the peer if the proxy
// appends none.
func FuzzNoHeaderHidesTheClientOfAProxy(f *testing.F) {
	f.Add("192.0.2.1, 10.0.0.1", "203.0.113.9")
	f.Add("[::1]:5, ,,unknown", "2001:db8::1")
	f.Add("[", "::ffff:1.2.3.4")
	trusted, one := proxies(f, "10.0.0.0/8"), proxies(f, "1")
	f.Fuzz(func(t *testing.T, sent, added string) {
		if got := trusted.client(from("203.0.113.5:80", sent)); got.String() != "203.0.113.5" {
			t.Fatalf("the client made the edge believe %s", got)
		}
		got := trusted.client(from("10.0.0.1:80", sent))
		if key := admission.ClientKey(got); key == "" || len(key) > 100 {
			t.Fatalf("got %q", key)
		}
		client, err := netip.ParseAddr(added)
		if strings.Contains(added, "%") || strings.Contains(added, ",") {
			return
		}
		want := plainAddress(client)
		if _, ok := parseForwarded(added); err != nil && ok {
			return // an address with brackets or a port
		} else if err != nil {
			want = netip.MustParseAddr("10.0.0.1")
		}
		for _, header := range [][]string{{sent + ", " + added}, {sent, added}} {
			if got := one.client(from("10.0.0.1:80", header...)); got != want {
				t.Fatalf("one proxy, %q: got %s", header, got)
			}
			if got := trusted.client(from("10.0.0.1:80", header...)); got != want && !trusted.include(want) {
				t.Fatalf("%q: got %s", header, got)
			}
		}
	})
}

// The rule is 11.12.
func TestReadsThatFindNothingHaveARate(t *testing.T) {
	now, err := time.Unix(1e9, 0), refusedFor(codes.NotFound, "BLOG_NOT_FOUND")
	f := &fakes{answer: func(context.Context, proto.Message) (proto.Message, error) {
		return &blogv1.GetBlogResponse{Blog: &blogv1.Blog{}}, err
	}}
	h := newEdge(t, f, func(c *Config) { c.Load.Misses = admission.NewRate(1, 5*time.Second, func() time.Time { return now }) })
	ask := func(address, form string) string {
		r := cookieless(form)
		r.Header.Set("Cookie", demoCookie)
		r.RemoteAddr = address
		w := record(h, r)
		return strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Header().Get("X-Waybook-Reason"), " ", w.Header().Get("Retry-After")))
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	const guess, lacking = "func=getBlog&blogID=1", "func=getBlog"
	for n := range 5 {
		expect("a miss", ask(fmt.Sprintf("[2001:db8::%x]:1", n), guess), "200 BLOG_NOT_FOUND")
		expect("a miss by another write", ask("192.0.2.1:1", "func=updateBlog&delete=true&blogID=1"), "200 BLOG_NOT_FOUND")
		expect("a failure that is no miss", ask("192.0.2.1:1", lacking), "200 MISSING_PARAMETER")
	}
	err = nil // the next guess would be right, which the reply must not tell
	expect("one guess too many", ask("[2001:db8::9]:1", guess), "429 TOO_MANY_MISSES 1")
	expect("another client", ask("192.0.2.1:1", guess), "200")
	now = now.Add(time.Second)
	for range 3 {
		expect("a hit after the wait", ask("[2001:db8::9]:1", guess), "200")
	}
}

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

func TestASettingTakesItsValuesAndStaysAsItIsForOthers(t *testing.T) {
	for _, c := range []struct {
		setting flag.Value
		// taken are values in turn, with what they read back as. The last one stays.
		taken   [][2]string
		refused []string
	}{
		{
			new(TrustedProxies),
			[][2]string{
				{" 1 ", "1"}, {"", ""}, {"16", "16"}, {"0", ""}, {"10.0.0.0/8", "10.0.0.0/8"}, {"192.0.2.1/32,2001:db8::1/128", "192.0.2.1/32,2001:db8::1/128"},
				{" 10.1.2.3/8 , fd00::/8,", "10.0.0.0/8,fd00::/8"},
			},
			[]string{"17", "-1", "1,10.0.0.0/8", "10.0.0.1", "10.0.0.0/33", "all", "10.0.0.0/8;fd00::/8", "::ffff:10.0.0.0/104"},
		},
		{
			new(TrustedOrigins),
			[][2]string{{" https://a.example , http://b.example:8080,", "https://a.example,http://b.example:8080"}},
			[]string{"Null", "null/", "a.example", "https://a.example/path", "https://", "://"},
		},
		{
			new(PathPrefix),
			[][2]string{{"/waybook/", "/waybook"}, {"", ""}, {"/waybook", "/waybook"}, {"/", ""}, {"/a/b.c~d", "/a/b.c~d"}},
			[]string{"waybook", "//", "//evil.example", "/a//b", "/a?b", "/a#b", "/a%20b", "/a b", "https://a.example"},
		},
	} {
		for _, value := range c.taken {
			if err := c.setting.Set(value[0]); err != nil || c.setting.String() != value[1] {
				t.Errorf("%T: %q became %v (%v), want %s", c.setting, value[0], c.setting, err, value[1])
			}
		}
		kept := c.setting.String()
		for _, wrong := range c.refused {
			if err := c.setting.Set(wrong); err == nil || c.setting.String() != kept {
				t.Errorf("%T: %q: got %v and %v", c.setting, wrong, err, c.setting)
			}
		}
	}
}
