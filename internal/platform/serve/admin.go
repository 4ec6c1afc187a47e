package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/settings"
)

// adminDrainTime is how long requests to the admin port may take once it stops, after all other
// parts. They are probes, scrapes and profiles.
const adminDrainTime = time.Second

// AdminHandler serves /healthz (the process is alive), /readyz (it can take requests) and
// /metrics. The first two are also available as gRPC health checks.
func AdminHandler(readiness *Readiness, metrics *Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := readiness.Err(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	return withHealth(readiness, mux)
}

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
	server := newServer(closing(isEnding, handler), http1, patience{headerTime, idleTime})
	e.Stack.PushPort(name, e.http(name, connections.ListenHTTP(listener, server, maxHeaderFields), server))
}

// Admin serves the admin port and returns its address. The port answers requests to IP addresses,
// localhost and AdminHosts.
func (e Env) Admin(ctx context.Context, address string, readiness *Readiness, metrics *Metrics) (net.Addr, error) {
	listener, err := Listen(ctx, "admin", address)
	if err != nil {
		return nil, err
	}
	var both http.Protocols
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true) // gRPC health checks
	e.describe(ctx, readiness, metrics)
	handler := withSlowRequests(AdminHandler(readiness, metrics), e.Tracing.Slow())
	if e.HasProfiles {
		handler = withProfiles(handler)
	}
	e.Announce(slog.String("admin", listener.Addr().String()))
	server := newServer(e.AdminHosts.protect(handler), both, patience{headerTime, idleTime})
	server.MaxHeaderBytes = adminHeaderBytes
	server.WriteTimeout = adminWriteTime
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: adminStreams}
	connections := connlimit.New(connlimit.Limits{All: adminConnections})
	metrics.CountConnections("admin", connections)
	// HTTP/2 has no lines to count. The other limits are so low that no number of fields matters.
	const anyFields = 0
	drain := e.http("admin port", connections.ListenHTTP(listener, server, anyFields), server)
	e.Stack.Push("admin port", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, adminDrainTime)
		defer cancel()
		return drain(ctx)
	})
	return listener.Addr(), nil
}

// describe adds the metrics of the whole process.
func (e Env) describe(ctx context.Context, readiness *Readiness, metrics *Metrics) {
	ctx = context.WithoutCancel(ctx) // a scrape comes after the start
	metrics.GaugeFunc("waybook_ready", "Readiness of the program: 1 if it can take requests, otherwise 0.", func() float64 {
		if readiness.Err(ctx) != nil {
			return 0
		}
		return 1
	})
	if identity := e.Transport.Identity; identity != nil {
		metrics.GaugeFunc("waybook_tls_certificate_expiry_timestamp_seconds", "Expiry of the TLS certificate in use, as a Unix time.", func() float64 {
			return float64(identity.Expiry().Unix())
		})
	}
}

const (
	// maxHeaderBytes bounds the request line and the headers; net/http reads up to 4 KiB more.
	// maxHeaderFields bounds the fields: each takes some 200 bytes besides its own, so that
	// thousands of short ones would take a hundred times more memory than they are long.
	// Browsers send 20, and proxies add 10.
	maxHeaderBytes  = 32 << 10
	maxHeaderFields = 100
	// headerTime bounds how long a client may take to send the headers. idleTime bounds how
	// long a connection may stay idle between two requests.
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
)

// The limits of the admin port. Probes and scrapes need few connections and short headers. A probe
// finds room while others fill the port: connections that wait give way. A reply that is not read
// ends, too, but a profile may take longer.
const (
	adminConnections = 64
	adminHeaderBytes = 8 << 10
	adminStreams     = 16
	adminWriteTime   = 30 * time.Second
)

// patience is how long a server waits for its clients. Tests use shorter times.
type patience struct{ header, idle time.Duration }

func newServer(handler http.Handler, protocols http.Protocols, patience patience) *http.Server {
	return &http.Server{
		Handler: handler,
		// There is no ReadTimeout, because it would also cut off a long reply. A handler
		// that reads a body sets its own limit.
		ReadHeaderTimeout: patience.header,
		IdleTimeout:       patience.idle,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         &protocols,
	}
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
