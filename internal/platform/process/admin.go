package process

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

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

// Admin serves the admin port and returns its address. The port answers requests to IP addresses,
// localhost and AdminHosts.
func (e Env) Admin(ctx context.Context, address string, readiness *Readiness, metrics *Metrics) (net.Addr, error) {
	listener, err := Listen(ctx, "admin", address)
	if err != nil {
		return nil, err
	}
	e.describe(ctx, readiness, metrics)
	handler := AdminHandler(readiness, metrics)
	if e.HasProfiles {
		handler = withProfiles(handler)
	}
	e.Announce(slog.String("admin", listener.Addr().String()))
	server := newAdminServer(e.AdminHosts.protect(handler), patience{headerTime, bodyTime, pieceTime, idleTime})
	connections := connlimit.New(connlimit.Limits{All: adminConnections, ServedGiveWay: true})
	metrics.CountConnections("admin", connections)
	// maxHeaderFields is for HTTP/1 only. Here the other limits are so low that no number of
	// fields matters.
	drain := e.http("admin port", connections.ListenHTTP(listener, server, maxHeaderFields), server)
	e.Stack.Push("admin port", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, adminDrainTime)
		defer cancel()
		return drain(ctx)
	})
	return listener.Addr(), nil
}

// newAdminServer returns a server for HTTP/1 and for the gRPC health checks of HTTP/2.
//
// It has no limit for idle connections, which give way; of HTTP/2 it pings them. net/http would
// keep a connection that is closed within calls in memory for that long, with its requests.
func newAdminServer(handler http.Handler, patience patience) *http.Server {
	var both http.Protocols
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	server := newServer(handler, both, patience)
	server.ReadTimeout = patience.body
	server.IdleTimeout = -1
	server.MaxHeaderBytes = adminHeaderBytes
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: adminStreams, SendPingTimeout: patience.idle,
		MaxEncoderHeaderTableSize: noTable}
	return server
}

// describe adds the metrics of the whole process.
func (e Env) describe(ctx context.Context, readiness *Readiness, metrics *Metrics) {
	ctx = context.WithoutCancel(ctx) // a scrape comes after the start
	metrics.GaugeFunc("waybook_ready", "Readiness of the program: 1 if it can take requests, otherwise 0.", nil,
		func() float64 {
			if readiness.Err(ctx) != nil {
				return 0
			}
			return 1
		})
	if identity := e.Transport.Identity; identity != nil {
		metrics.GaugeFunc("waybook_tls_certificate_expiry_timestamp_seconds",
			"Expiry of the TLS certificate in use, as a Unix time.", nil, func() float64 {
				return float64(identity.Expiry().Unix())
			})
	}
}

// The limits of the admin port. Probes and scrapes need few connections and short headers. A probe
// finds room while others fill the port: any other connection gives way, and most of what the port
// serves takes milliseconds.
const (
	adminConnections = 64
	adminHeaderBytes = 8 << 10
	adminStreams     = 16
	// adminMessageBytes bounds the message of a health check, which names a service.
	adminMessageBytes = 4 << 10
	// noTable is too small for any field. net/http changes the table of the encoder without a lock
	// when a client sends SETTINGS, and a reply that is encoded meanwhile ends the program
	// (concurrent map writes).
	noTable = 1
)

// The services that grpc.health.v1.Health on the admin port reports on.
const (
	// Liveness reports whether the process runs. It never asks the store.
	Liveness = "liveness"
	// ReadinessName reports whether the process can take requests. The empty name means the
	// same.
	ReadinessName = "readiness"
)

// health answers gRPC probes. Probes cannot present a certificate, so they cannot use a
// port that requires one.
type health struct {
	healthv1.UnimplementedHealthServer
	readiness *Readiness
}

func (h health) Check(ctx context.Context,
	request *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	serving := &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}
	switch request.GetService() {
	case Liveness:
	case ReadinessName, "":
		if h.readiness.Err(ctx) != nil {
			serving.Status = healthv1.HealthCheckResponse_NOT_SERVING
		}
	default:
		return nil, status.Errorf(codes.NotFound, "unknown service; ask for %q or %q", Liveness, ReadinessName)
	}
	return serving, nil
}

// withHealth serves gRPC health checks in addition to a handler.
func withHealth(readiness *Readiness, other http.Handler) http.Handler {
	probes := grpc.NewServer(grpc.MaxRecvMsgSize(adminMessageBytes))
	healthv1.RegisterHealthServer(probes, health{readiness: readiness})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			probes.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}

// AdminHosts are the host names under which programs may use the admin port. The flag is a
// comma-separated list. IP addresses and localhost always work.
//
// They protect from DNS rebinding. A page of another site can point its own name at this machine,
// and a browser then lets the page read what the port answers. The browser names the page's host
// in each request.
type AdminHosts []string

func (h AdminHosts) String() string { return strings.Join(h, ",") }

// Set parses the flag's value and replaces the earlier one.
func (h *AdminHosts) Set(value string) error {
	var hosts AdminHosts
	for _, part := range settings.List(value) {
		if strings.ContainsAny(part, "/: \t*") {
			return fmt.Errorf("%q is not a host name; write it without scheme and port", part)
		}
		hosts = append(hosts, plainHost(part))
	}
	*h = hosts
	return nil
}

// protect rejects requests to other hosts than these.
func (h AdminHosts) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.include(r.Host) {
			http.Error(w, fmt.Sprintf("the host %q is not allowed here; use an IP address, or allow it with "+
				"-admin-hosts or %s",
				r.Host, settings.EnvName(adminHostsFlag)), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// include reports whether a request may name a host, with or without a port. An HTTP/1.0 client
// may leave the host out. Browsers do not.
func (h AdminHosts) include(host string) bool {
	if host == "" {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = plainHost(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || slices.Contains(h, host)
}

// plainHost normalizes a host name: lower case, without the dot of the root.
func plainHost(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// maxProfileTime bounds the duration of CPU profiles and traces.
const maxProfileTime = time.Minute

// withProfiles serves profiles for go tool pprof and go tool trace in addition to a
// handler. It does not use net/http/pprof. That package adds itself to http.DefaultServeMux
// in every program that links it. It also exposes the command line, which may hold a
// password.
func withProfiles(other http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", other)
	mux.HandleFunc("GET /debug/pprof/profile", func(w http.ResponseWriter, r *http.Request) {
		if err := pprof.StartCPUProfile(attachment(w, "profile")); err != nil {
			busy(w, err)
			return
		}
		defer pprof.StopCPUProfile()
		waitFor(w, r, 30*time.Second)
	})
	mux.HandleFunc("GET /debug/pprof/trace", func(w http.ResponseWriter, r *http.Request) {
		if err := trace.Start(attachment(w, "trace")); err != nil {
			busy(w, err)
			return
		}
		defer trace.Stop()
		waitFor(w, r, time.Second)
	})
	mux.HandleFunc("GET /debug/pprof/{name}", func(w http.ResponseWriter, r *http.Request) {
		profile := pprof.Lookup(r.PathValue("name"))
		if profile == nil {
			http.Error(w, "unknown profile; /debug/pprof/ lists the profiles", http.StatusNotFound)
			return
		}
		if profile.Name() == "heap" && r.FormValue("gc") != "" {
			runtime.GC()
		}
		_ = profile.WriteTo(attachment(w, profile.Name()), 0) // the client is gone
	})
	mux.HandleFunc("GET /debug/pprof/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "profile?seconds=30\ntrace?seconds=1")
		for _, profile := range pprof.Profiles() {
			fmt.Fprintln(w, profile.Name())
		}
	})
	return mux
}

func attachment(w http.ResponseWriter, name string) http.ResponseWriter {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
	return w
}

func busy(w http.ResponseWriter, err error) {
	w.Header().Del("Content-Disposition")
	http.Error(w, err.Error(), http.StatusConflict)
}

// waitFor waits for as many seconds as the request asks for, or until its client is gone. The
// client has pieceTime to read the reply after that.
func waitFor(w http.ResponseWriter, r *http.Request, byDefault time.Duration) {
	wait := byDefault
	if seconds, err := strconv.ParseFloat(r.FormValue("seconds"), 64); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, maxProfileTime.Seconds()) * float64(time.Second))
	}
	// A writer without deadlines has no time limit either.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + pieceTime))
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
