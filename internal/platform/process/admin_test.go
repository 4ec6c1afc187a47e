package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/process"
)

// newEnv returns an environment whose stack the test stops.
func newEnv(t *testing.T) process.Env {
	return process.Env{
		Stack: &process.Stack{}, Out: io.Discard, Log: slog.New(slog.DiscardHandler),
		Fail: func(err error) { t.Errorf("a part failed: %v", err) },
	}
}

func ask(handler http.Handler, path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

func TestReadinessFollowsTheProgramAndItsStore(t *testing.T) {
	env := newEnv(t)
	var broken error
	readiness := process.NewReadiness()
	handler := process.AdminHandler(readiness, process.NewMetrics())
	expect := func(when string, want int) {
		t.Helper()
		if got := ask(handler, "/readyz"); got.Code != want {
			t.Errorf("%s: %d, want %d", when, got.Code, want)
		}
		if got := ask(handler, "/healthz"); got.Code != http.StatusOK {
			t.Errorf("%s: the process is not healthy: %d", when, got.Code)
		}
	}
	expect("before it serves", http.StatusServiceUnavailable)
	env.Ready(readiness, func(context.Context) error { return broken })
	expect("while it serves", http.StatusOK)
	broken = errors.New("secret: disk 7")
	expect("without its store", http.StatusServiceUnavailable)
	if body := ask(handler, "/readyz").Body.String(); strings.Contains(body, "secret") {
		t.Errorf("the reply exposes the cause: %s", body)
	}
	broken = nil
	if err := env.Stack.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect("while it stops", http.StatusServiceUnavailable)
}

func TestGRPCProbesReportLivenessAndReadiness(t *testing.T) {
	env := newEnv(t)
	var broken error
	readiness := process.NewReadiness()
	address, err := env.Admin(t.Context(), "127.0.0.1:0", readiness, process.NewMetrics())
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(address.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	probes := healthv1.NewHealthClient(connection)
	expect := func(when string, want healthv1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		for _, check := range []string{"", process.ReadinessName} {
			reply, err := probes.Check(t.Context(), &healthv1.HealthCheckRequest{Service: check})
			if err != nil || reply.GetStatus() != want {
				t.Errorf("%s: %q is %v, %v", when, check, reply, err)
			}
		}
		reply, err := probes.Check(t.Context(), &healthv1.HealthCheckRequest{Service: process.Liveness})
		if err != nil || reply.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%s: not alive: %v, %v", when, reply, err)
		}
	}
	expect("before it serves", healthv1.HealthCheckResponse_NOT_SERVING)
	env.Ready(readiness, func(context.Context) error { return broken })
	expect("while it serves", healthv1.HealthCheckResponse_SERVING)
	broken = errors.New("the disk is gone")
	expect("without its store", healthv1.HealthCheckResponse_NOT_SERVING)
	long := &healthv1.HealthCheckRequest{Service: strings.Repeat("x", 5000)}
	if _, err := probes.Check(t.Context(), long); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a message that is longer than any probe's: %v, want RESOURCE_EXHAUSTED", err)
	}
	if _, err := probes.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "x"}); status.Code(err) != codes.NotFound {
		t.Errorf("an unknown check: %v", err)
	}
	if reply, err := http.Get("http://" + address.String() + "/healthz"); err != nil || reply.StatusCode != http.StatusOK || reply.Body.Close() != nil {
		t.Errorf("by HTTP: %v, %v", reply, err)
	}
	if err := errors.Join(connection.Close(), env.Stack.Stop(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestMetricsCountCalls(t *testing.T) {
	metrics := process.NewMetrics()
	metrics.Calls.WithLabelValues("/x.Y/Z", codes.NotFound.String()).Observe(0)
	body := ask(process.AdminHandler(process.NewReadiness(), metrics), "/metrics").Body.String()
	for _, line := range []string{
		`waybook_rpc_duration_seconds_count{code="NotFound",method="/x.Y/Z"} 1`,
		"waybook_rpc_calls_in_flight 0", "waybook_rpc_streams_open 0",
		`waybook_build_info{go_version="go1.`, "go_goroutines ", "go_gc_gomemlimit_bytes ", "process_start_time_seconds ",
	} {
		if !strings.Contains(body, line) {
			t.Errorf("no %q", line)
		}
	}
}

func TestMetricsReportReadinessAndCertificateExpiry(t *testing.T) {
	env := newEnv(t)
	expiry := time.Now().Add(90 * time.Minute).Truncate(time.Second)
	env.Transport.Identity = newIdentity(t, expiry)
	metrics, readiness := process.NewMetrics(), process.NewReadiness()
	if _, err := env.Admin(t.Context(), "127.0.0.1:0", readiness, metrics); err != nil {
		t.Fatal(err)
	}
	expect := func(line string) {
		t.Helper()
		if body := ask(process.AdminHandler(readiness, metrics), "/metrics").Body.String(); !strings.Contains(body, line) {
			t.Errorf("no %q", line)
		}
	}
	expect("waybook_ready 0")
	env.Ready(readiness, nil)
	expect("waybook_ready 1")
	expect("waybook_tls_certificate_expiry_timestamp_seconds " + strconv.FormatFloat(float64(expiry.Unix()), 'g', -1, 64))
	if err := env.Stack.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// newIdentity returns an identity whose certificate has the given expiry.
func newIdentity(t *testing.T, expiry time.Time) *mtls.Identity {
	t.Helper()
	now := time.Now()
	vouches, err := devca.New("test", now, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	own, err := vouches.Pair()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := vouches.Issue([]string{"album"}, now, expiry.Sub(now))
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	files := mtls.Files{
		Certificate: filepath.Join(directory, "cert"), Key: filepath.Join(directory, "key"), Authorities: filepath.Join(directory, "ca"),
	}
	for file, content := range map[string][]byte{files.Certificate: pair.Certificate, files.Key: pair.Key, files.Authorities: own.Certificate} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := mtls.Load(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func TestATakenPortNamesTheFlagToChange(t *testing.T) {
	taken, err := process.Listen(t.Context(), "http", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	address := taken.Addr().String()
	_, err = process.Listen(t.Context(), "http", address)
	for _, part := range []string{address, "-http", "WAYBOOK_HTTP"} {
		if !strings.Contains(fmt.Sprint(err), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

// startHTTP serves a handler, sends it one request, and returns the unread reply.
func startHTTP(t *testing.T, env process.Env, handler http.Handler) *bufio.Reader {
	t.Helper()
	listener, err := process.Listen(t.Context(), "http", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	env.HTTP("edge", listener, handler, connlimit.New(connlimit.Limits{}))
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(connection)
}

func TestARequestInFlightEndsBeforeTheServerDoes(t *testing.T) {
	env := newEnv(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	reader := startHTTP(t, env, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-goOn
		_, _ = io.WriteString(w, "whole")
	}))
	<-begun
	env.Stack.OnNotice(func() { close(goOn) })
	if err := env.Stack.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != "whole" {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestAClientThatStopsReadingIsCutOffWithoutAnError(t *testing.T) {
	env := newEnv(t)
	begun, left := make(chan struct{}), make(chan struct{})
	startHTTP(t, env, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(left)
		close(begun)
		for piece := make([]byte, 1<<20); ; {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no time left: the stop must not wait
	if err := env.Stack.Stop(ctx); err != nil {
		t.Errorf("got %v", err)
	}
	<-left
}

func TestOthersLeaveRoomForProbesOfTheAdminPort(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(startAdmin(t, false), "http://")
	for name, sent := range map[string]string{
		"idle":                    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
		"within a header":         "GET /metrics HTTP/1.1\r\nHost: x\r\n",
		"within a body":           "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
		"within a body of no use": "POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		"with unread replies":     strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200),
	} {
		var others []net.Conn
		for range 200 {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			others = append(others, connection)
			_, _ = io.WriteString(connection, sent) // it may have given way
		}
		client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get("http://" + address + "/healthz")
		for _, each := range others { // so the next have only their own work
			_ = each.Close()
		}
		if err != nil {
			t.Errorf("connections that are %s: %v", name, err)
			continue
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("connections that are %s: got %s", name, response.Status)
		}
	}
	request, err := http.NewRequest(http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-A", strings.Repeat("x", 16<<10))
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a long header: %s", response.Status)
	}
}
