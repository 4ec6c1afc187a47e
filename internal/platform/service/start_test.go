package service_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
)

// patience bounds each wait for a program. It only ends a test that would hang.
const patience = time.Minute

// idle is a service without servers.
type idle struct{ sweeping }

func (idle) Register(grpc.ServiceRegistrar) {}

func (idle) Parts() service.Parts { return service.Parts{} }

// started is a service's program that runs in this process.
type started struct {
	t           *testing.T
	admin, grpc string
	stop        context.CancelFunc
	out, log    lines
	status      chan int
}

// start starts a program with the given flags. create is its service's New.
func start(t *testing.T, create func(context.Context, service.Host) (service.Service, error), flags ...string) *started {
	t.Helper()
	s := &started{t: t, admin: freeAddress(t), grpc: freeAddress(t), status: make(chan int, 1)}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	program := service.Program{Name: "example", GRPC: s.grpc, New: create}
	flags = append([]string{"-admin", s.admin, "-data", t.TempDir()}, flags...)
	go func() {
		s.status <- process.Run(ctx, program.Process(), flags, func(string) (string, bool) { return "", false }, &s.out, &s.log)
	}()
	t.Cleanup(stop)
	return s
}

// freeAddress returns an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// get asks the admin port, again until it listens.
func (s *started) get(path string) (code int, body string) {
	s.t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		reply, err := http.Get("http://" + s.admin + path)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		if err != nil {
			s.t.Fatal(err)
		}
		return reply.StatusCode, strings.TrimSpace(string(text))
	}
	s.t.Fatalf("the admin port does not listen:\n%s", s.log.String())
	return 0, ""
}

// await asks until a path has the reply.
func (s *started) await(path string, code int, body string) {
	s.t.Helper()
	var got int
	var text string
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		if got, text = s.get(path); got == code && text == body {
			return
		}
	}
	s.t.Fatalf("%s answers %d %q, want %d %q", path, got, text, code, body)
}

// end stops the program as a signal does, and checks its status.
func (s *started) end(status int) {
	s.t.Helper()
	s.stop()
	select {
	case got := <-s.status:
		if got != status {
			s.t.Errorf("status %d, want %d:\n%s", got, status, s.log.String())
		}
	case <-time.After(patience):
		s.t.Fatal("the program does not stop")
	}
}

// lines is a program's output.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestAStartingServiceIsAliveAndNotReadyAndThenReady(t *testing.T) {
	built := make(chan struct{})
	s := start(t, func(context.Context, service.Host) (service.Service, error) {
		<-built // as a long build of an index
		return idle{sweeping{name: "example"}}, nil
	})
	s.await("/healthz", http.StatusOK, "ok")
	s.await("/readyz", http.StatusServiceUnavailable, "starting: opening the collections")
	s.expectProbes(healthv1.HealthCheckResponse_NOT_SERVING)
	if connection, err := net.Dial("tcp", s.grpc); err == nil {
		_ = connection.Close()
		t.Error("the gRPC port listens before the program can serve")
	}
	if text := s.out.String(); text != "" {
		t.Errorf("printed before it is ready: %q", text)
	}
	close(built)
	s.await("/readyz", http.StatusOK, "ok")
	s.expectProbes(healthv1.HealthCheckResponse_SERVING)
	s.end(0)
	if want := "waybook example\n  grpc   " + s.grpc + "\n  admin  http://" + s.admin + "\n"; s.out.String() != want {
		t.Errorf("printed %q, want %q", s.out.String(), want)
	}
}

func TestASignalEndsAStartThatOpensItsStore(t *testing.T) {
	s := start(t, func(ctx context.Context, _ service.Host) (service.Service, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.await("/healthz", http.StatusOK, "ok")
	s.end(0)
	if text := s.log.String(); !strings.Contains(text, "msg=stopped") || strings.Contains(text, "msg=started") {
		t.Errorf("logged %s", text)
	}
}

// expectProbes asks as Kubernetes does.
func (s *started) expectProbes(readiness healthv1.HealthCheckResponse_ServingStatus) {
	s.t.Helper()
	connection, err := grpc.NewClient(s.admin, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	for check, want := range map[string]healthv1.HealthCheckResponse_ServingStatus{
		process.Liveness: healthv1.HealthCheckResponse_SERVING, process.ReadinessName: readiness,
	} {
		reply, err := healthv1.NewHealthClient(connection).Check(s.t.Context(), &healthv1.HealthCheckRequest{Service: check})
		if err != nil || reply.GetStatus() != want {
			s.t.Errorf("%s is %v, %v, want %v", check, reply, err, want)
		}
	}
}

// opens returns a New that opens a collection of things with the given indexes.
func opens(indexes ...string) func(context.Context, service.Host) (service.Service, error) {
	return func(ctx context.Context, host service.Host) (service.Service, error) {
		spec := docstore.Spec{Name: "things", ID: docstore.Int64}
		for _, name := range indexes {
			spec.Indexes = append(spec.Indexes, docstore.Index{Name: name, Fields: []docstore.Field{{Name: name, Kind: docstore.Int64}}})
		}
		things, err := docstore.Open[int64, thing](ctx, host.Deps.Store, spec)
		if err != nil {
			return nil, err
		}
		id := host.Deps.NewIDs().Unordered(0)
		return idle{sweeping{name: "example"}}, things.Insert(ctx, thing{id, id})
	}
}

type thing struct {
	ID   int64 `bson:"_id"`
	Size int64 `bson:"size"`
}

func TestAStartLogsTheIndexesThatItBuilds(t *testing.T) {
	data := t.TempDir()
	run := func(indexes ...string) string {
		s := start(t, opens(indexes...), "-data", data)
		s.await("/readyz", http.StatusOK, "ok")
		s.end(0)
		return s.log.String()
	}
	for range 2 {
		if text := run(); strings.Contains(text, "indexes") {
			t.Errorf("nothing is to be built, and it logged\n%s", text)
		}
	}
	text := run("size")
	for _, line := range []string{
		`msg="building indexes" program=example collection=things indexes=size documents=2` + "\n",
		`msg="built indexes" program=example collection=things indexes=size documents=2 duration_ms=`,
	} {
		if strings.Count(text, line) != 1 {
			t.Errorf("not logged once: %s\n%s", line, text)
		}
	}
	if text := run("size"); strings.Contains(text, "indexes") {
		t.Errorf("built again:\n%s", text)
	}
}

func TestAStartWithoutMongoDBSaysWhereItWaitsAndStops(t *testing.T) {
	nowhere := freeAddress(t)
	s := start(t, opens(), "-mongodb-uri", "mongodb://someone:s3cr3t@"+nowhere+"/waybook?connectTimeoutMS=1000")
	s.await("/readyz", http.StatusServiceUnavailable, "starting: waiting for MongoDB at "+nowhere+"/waybook")
	s.await("/healthz", http.StatusOK, "ok")
	line := `level=WARN msg="still waiting for MongoDB" program=example location=` + nowhere + `/waybook error=`
	for limit := time.Now().Add(patience); !strings.Contains(s.log.String(), line); {
		if time.Now().After(limit) {
			t.Fatalf("not logged: %s\n%s", line, s.log.String())
		}
		runtime.Gosched()
	}
	s.end(0)
	text := s.log.String()
	if !strings.Contains(text, "connection refused") || strings.Contains(text, "s3cr3t") {
		t.Errorf("the log lacks the reason, or has the password:\n%s", text)
	}
}
