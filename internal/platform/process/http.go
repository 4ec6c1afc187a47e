package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/settings"
)

// HTTP serves a handler on a listener, within the limits of connections, and pushes its end. From
// the notice on, each reply announces that its connection closes. Connections that are idle after
// the shutdown delay are closed. Requests in flight have DrainTime; otherwise a client that stops
// reading could delay the stop for as long as it likes.
func (e Env) HTTP(name string, listener net.Listener, handler http.Handler, connections *connlimit.Limiter) {
	var http1 http.Protocols
	http1.SetHTTP1(true)
	e.Announce(slog.String("http", listener.Addr().String()))
	isEnding := new(atomic.Bool)
	e.Stack.OnNotice(func() { isEnding.Store(true) })
	server := newServer(closing(isEnding, handler), http1, patience{headerTime, bodyTime, pieceTime, idleTime})
	e.Stack.PushPort(name, e.http(name, connections.ListenHTTP(listener, server, maxHeaderFields), server))
}

const (
	// maxHeaderBytes bounds the request line and the headers; net/http reads up to 4 KiB more.
	// maxHeaderFields bounds the fields: each takes some 200 bytes besides its own, so that
	// thousands of short ones would take a hundred times more memory than they are long.
	// Browsers send 20, and proxies add 10.
	maxHeaderBytes  = 32 << 10
	maxHeaderFields = 100
	// headerTime bounds how long a client may take to send the headers, and bodyTime the same for
	// a body that no handler reads. pieceTime bounds how long it may take to read a reply. A
	// handler that reads a body, or sends a long reply, gives each piece a deadline of its own.
	// idleTime bounds how long a connection may stay idle between two requests.
	headerTime = 10 * time.Second
	bodyTime   = 10 * time.Second
	pieceTime  = 30 * time.Second
	idleTime   = 2 * time.Minute
)

// patience is how long a server waits for its clients. Tests use shorter times.
type patience struct{ header, body, piece, idle time.Duration }

func newServer(handler http.Handler, protocols http.Protocols, patience patience) *http.Server {
	return &http.Server{
		Handler: Bounded(handler, patience.body),
		// There is no ReadTimeout, because it would also cut off a long reply.
		ReadHeaderTimeout: patience.header,
		WriteTimeout:      patience.piece,
		IdleTimeout:       patience.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         &protocols,
		// net/http would answer OPTIONS * without the handler, and so without Bounded.
		DisableGeneralOptionsHandler: true,
	}
}

// Bounded returns a handler with the rules for bodies that hold for every path: a body that no
// handler reads has arrived in bodyTime, or its connection closes.
//
// A chunked body may have come with a Content-Length too, which net/http drops. A proxy that used
// that length may take bytes of this body for a second request. So nothing after this request is
// read as another one (RFC 9112, 6.3). In HTTP/1.0, net/http drops Transfer-Encoding without a
// trace, and takes such a body for the next request. So HTTP/1.0 has one request for a connection.
func Bounded(handler http.Handler, bodyTime time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1) {
			w.Header().Set("Connection", "close")
		}
		// A request of HTTP/2 has ReadTimeout instead: a deadline that is set after the client has
		// taken the request back keeps its connection in memory.
		if r.ProtoMajor == 1 && r.Body != nil && r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // a server of net/http can
		}
		handler.ServeHTTP(w, r)
	})
}

// http runs a server and returns the function that ends it. That waits for the requests in flight
// until its context ends, and then closes their connections.
func (e Env) http(name string, listener net.Listener, server *http.Server) func(context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			e.Fail(fmt.Errorf("%s: %w", name, err))
		}
	}()
	return func(ctx context.Context) error {
		err := server.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			err = server.Close()
		}
		<-done
		return err
	}
}

// Listen opens a TCP listener. Its error names the flag to change.
func Listen(ctx context.Context, flagName, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("can't listen on %s (change it with -%s or %s; port 0 picks a free one): %w",
			address, flagName, settings.EnvName(flagName), err)
	}
	return listener, nil
}

// closing announces with every reply, once isEnding is set, that the connection closes. So a
// client leaves after a reply, and none loses the request that it is sending on an idle
// connection.
func closing(isEnding *atomic.Bool, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isEnding.Load() {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}
