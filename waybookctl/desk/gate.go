package desk

import (
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
)

// openPath exchanges the secret for a cookie.
const openPath = "/open"

// policy is the Content-Security-Policy of the pages: their own files and requests.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// opened is the reply to the secret. Its navigation is one of this site, so that it has the cookie, also if
// another site or a terminal opened the address.
const opened = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>Waybook</title><a href="/">Waybook</a>`

// gate lets in the browser that has the secret. Other users of the machine can connect, and any page in the
// browser can send requests. It is safe for concurrent use.
type gate struct {
	port           int
	secret, cookie string
	isUsed         atomic.Bool
	crossOrigin    *http.CrossOriginProtection
}

func newGate(port int, secret, cookie string) *gate {
	return &gate{port: port, secret: secret, cookie: cookie, crossOrigin: http.NewCrossOriginProtection()}
}

// protect returns a handler that passes on requests with the cookie. They name a loopback address as their
// host, which no page of another site does after DNS rebinding, and a page of another site sends no write.
func (g *gate) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", policy)
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		switch {
		case !g.isHere(r.Host):
			http.Error(w, fmt.Sprintf("the host %q is not allowed here; open the address that waybookctl console printed", r.Host), http.StatusMisdirectedRequest)
		case r.URL.Path == openPath:
			g.open(w, r)
		case !g.hasCookie(r):
			http.Error(w, "open the address that waybookctl console printed, in this browser", http.StatusForbidden)
		case g.crossOrigin.Check(r) != nil:
			http.Error(w, "a page of another site sent this request; it was not done", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isHere reports whether a request names this server by a loopback address or as localhost.
func (g *gate) isHere(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil || port != strconv.Itoa(g.port) {
		return false
	}
	address, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && address.IsLoopback()
}

// open sets the cookie. The secret works once: it stays in the history of the browser.
func (g *gate) open(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !isSame(r.URL.Query().Get("secret"), g.secret) {
		http.Error(w, "this is not the address that waybookctl console printed", http.StatusForbidden)
		return
	}
	if g.isUsed.Swap(true) && !g.hasCookie(r) {
		http.Error(w, "this address was used already; start waybookctl console again for another browser", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookieName(), Value: g.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) // #nosec G124 -- HTTP on loopback
	w.Header().Set("Content-Type", contentTypes[".html"])
	_, _ = w.Write([]byte(opened)) // it fails when the browser is gone
}

// cookieName has the port, because browsers send a cookie to all ports of a host.
func (g *gate) cookieName() string { return "waybook-console-" + strconv.Itoa(g.port) }

func (g *gate) hasCookie(r *http.Request) bool {
	cookie, err := r.Cookie(g.cookieName())
	return err == nil && isSame(cookie.Value, g.cookie)
}

func isSame(given, want string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}
