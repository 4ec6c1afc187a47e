// Package desk serves pages for operators to one browser on the same machine. Each request of a page
// becomes calls with the operator's connection, so that the services decide what is allowed.
package desk

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/moving/send"
	"github.com/waybook/waybook/waybookctl/adminport"
)

// Config has what the pages show and change.
type Config struct {
	// Services are the services, with the operator's connection.
	Services send.Services
	// Admin asks the admin ports of the programs.
	Admin adminport.Ports
	// Journal is the directory of the journal of an import on this machine.
	Journal string
	// Files are the built files of the pages.
	Files fs.FS
	// Describe explains the error of a call as the other commands do.
	Describe func(context.Context, error) Failure
}

// Failure is a failed call as people see it.
type Failure struct {
	Status  int      `json:"-"` // of HTTP
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
}

// The limits of the server. One browser uses it.
const (
	headerTime     = 10 * time.Second
	idleTime       = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 4 << 10
	// adminTime bounds the replies of one admin port.
	adminTime = 3 * time.Second
	// endTime bounds the end of the server.
	endTime = time.Second
)

// Desk is a server of pages on a listener. It is safe for concurrent use.
type Desk struct {
	config  Config
	address *net.TCPAddr
	gate    *gate
	server  *http.Server
	// ctx is that of the followers, and stop ends it.
	ctx       context.Context
	stop      context.CancelFunc
	followers followers
}

// New returns a Desk for a listener at address, which must be a loopback address. It ends with ctx.
func New(ctx context.Context, config Config, address net.Addr) (*Desk, error) {
	at, isTCP := address.(*net.TCPAddr)
	if !isTCP || !at.IP.IsLoopback() {
		return nil, fmt.Errorf("%s is not a loopback address: the pages have what only an operator may see", address)
	}
	d := &Desk{
		config: config, address: at,
		gate: &gate{port: at.Port, secret: rand.Text(), cookie: rand.Text(), crossOrigin: http.NewCrossOriginProtection()},
	}
	d.ctx, d.stop = context.WithCancel(ctx)
	d.server = &http.Server{
		BaseContext: func(net.Listener) context.Context { return d.ctx }, Handler: d.gate.protect(d.routes()), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaderBytes,
	}
	return d, nil
}

// Address returns the address that opens the pages, once.
func (d *Desk) Address() string {
	return "http://" + d.address.String() + openPath + "?secret=" + url.QueryEscape(d.gate.secret)
}

// Serve serves the pages until the Desk ends.
func (d *Desk) Serve(listener net.Listener) error {
	defer d.followers.running.Wait()
	defer d.stop()
	closed := make(chan error, 1)
	keep := context.AfterFunc(d.ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), endTime)
		defer cancel()
		closed <- errors.Join(ignoreLate(d.server.Shutdown(ending)), d.server.Close()) // requests end with their context
	})
	err := d.server.Serve(listener)
	if keep() || !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-closed
}

// ignoreLate leaves out that a browser took too long to read.
func ignoreLate(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (d *Desk) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { d.serveFile(w, "index.html") })
	// Browsers ask for an icon of the reply to the secret.
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /assets/{name}", func(w http.ResponseWriter, r *http.Request) { d.serveFile(w, "assets/"+r.PathValue("name")) })
	mux.HandleFunc("GET /users", d.reply(d.findUsers))
	mux.HandleFunc("GET /users/{user}", d.reply(ofUser(d.showUser)))
	mux.HandleFunc("POST /users/{user}/disable", d.reply(ofUser(d.setDisabled(true))))
	mux.HandleFunc("POST /users/{user}/enable", d.reply(ofUser(d.setDisabled(false))))
	mux.HandleFunc("POST /users/{user}/close-sessions", d.reply(ofUser(d.closeSessions)))
	mux.HandleFunc("POST /users/{user}/sessions/{session}/close", d.reply(d.closeSession))
	mux.HandleFunc("GET /users/{user}/export", d.exportUser)
	mux.HandleFunc("GET /requests/events", events(d.requests))
	mux.HandleFunc("GET /deleted/events", events(d.deleted))
	mux.HandleFunc("GET /moves/events", events(d.moves))
	mux.HandleFunc("GET /moves/old-passwords", d.reply(d.countOldPasswords))
	mux.HandleFunc("GET /state/events", events(d.state))
	return mux
}

// reply returns a handler that sends the result of f, or the failure, as JSON.
func (d *Desk) reply(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		value, err := f(r)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		sendJSON(w, http.StatusOK, value)
	}
}

// badRequest is a request that no page sends.
type badRequest string

// Error says what is wrong.
func (e badRequest) Error() string { return string(e) }

func (d *Desk) fail(w http.ResponseWriter, r *http.Request, err error) {
	if bad, isBad := errors.AsType[badRequest](err); isBad {
		sendJSON(w, http.StatusBadRequest, Failure{Message: bad.Error()})
		return
	}
	failure := d.config.Describe(r.Context(), err)
	sendJSON(w, failure.Status, failure)
}

func sendJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // it fails when the browser is gone
}

// contentTypes are the types of what a build contains. The tables of the systems differ.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

func (d *Desk) serveFile(w http.ResponseWriter, name string) {
	body, err := fs.ReadFile(d.config.Files, name)
	if err != nil {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	_, _ = w.Write(body) // #nosec G705 -- a file of the build; it fails when the browser is gone
}

// eventPause is the pause between two looks while a page is open.
const eventPause = time.Second

// events returns a handler that sends what look returns as server-sent events, again when it is something else, until
// the page is closed.
func events[T any](look func(context.Context) T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		ticker := time.NewTicker(eventPause)
		defer ticker.Stop()
		for last := []byte(nil); ; {
			now, err := json.Marshal(look(r.Context()))
			if err != nil || r.Context().Err() != nil {
				return
			}
			if !bytes.Equal(now, last) {
				last = now
				_, err = fmt.Fprintf(w, "data: %s\n\n", now)
				if err = errors.Join(err, control.Flush()); err != nil {
					return
				}
			}
			select {
			case <-r.Context().Done():
				return
			case <-ticker.C:
			}
		}
	}
}

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
