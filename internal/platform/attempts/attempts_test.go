package attempts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/attempts"
)

const service = "grpc.health.v1.Health"

// healthServer fails as a service does, unless it is asked about a name.
type healthServer struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (healthServer) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if r.GetService() != "" {
		return &grpc_health_v1.HealthCheckResponse{}, nil
	}
	return nil, apierror.New(codes.Unavailable, "STORE_UNAVAILABLE", "private text").GRPCStatus().Err()
}

func (healthServer) Watch(r *grpc_health_v1.HealthCheckRequest, stream grpc.ServerStreamingServer[grpc_health_v1.HealthCheckResponse]) error {
	err := stream.Send(&grpc_health_v1.HealthCheckResponse{})
	if r.GetService() == "endless" {
		<-stream.Context().Done()
	}
	if err != nil || r.GetService() != "" {
		return err
	}
	return status.Error(codes.DataLoss, "in the middle")
}

// counted counts failed attempts.
type counted struct {
	mu  sync.Mutex
	all []string
}

func (c *counted) add(service string, code codes.Code) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, service+" "+code.String())
}

// dial connects to servers, of which each call that fails as UNAVAILABLE is tried at all.
func dial(t *testing.T, failed *counted, addresses ...string) grpc_health_v1.HealthClient {
	t.Helper()
	listed := manual.NewBuilderWithScheme("list")
	state := resolver.State{}
	for _, address := range addresses {
		state.Addresses = append(state.Addresses, resolver.Address{Addr: address})
	}
	listed.InitialState(state)
	options := append(attempts.DialOptions(failed.add), grpc.WithResolvers(listed), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(fmt.Sprintf(`{"loadBalancingConfig": [{"round_robin": {}}], "methodConfig": [{"name": [{"service": %q}], "retryPolicy":
			{"maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.01s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`, service)))
	connection, err := grpc.NewClient("list:///", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	return grpc_health_v1.NewHealthClient(connection)
}

func serve(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, healthServer{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

func TestAFailedCallNamesEachAttempt(t *testing.T) {
	var failed counted
	first, second := serve(t), serve(t)
	client := dial(t, &failed, first, second)
	_, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
	of := attempts.In(fmt.Errorf("wrapped: %w", err))
	if of == nil {
		t.Fatalf("got %v", err)
	}
	if of.Service != service || of.Method != "Check" || of.Tries != 3 || len(of.Attempts) != 3 || of.Elapsed < of.Attempts[0].Elapsed {
		t.Errorf("got %+v", of)
	}
	for _, each := range of.Attempts {
		if each.Address != first && each.Address != second || each.Code != codes.Unavailable || each.Elapsed <= 0 {
			t.Errorf("an attempt is %+v", each)
		}
	}
	if want := slices.Repeat([]string{service + " Unavailable"}, 3); !slices.Equal(failed.all, want) {
		t.Errorf("counted %q", failed.all)
	}
	// It is the same error for everybody else.
	if answer, isStatus := status.FromError(err); !isStatus || answer.Code() != codes.Unavailable || !strings.HasSuffix(answer.Message(), "private text") || len(answer.Details()) != 1 {
		t.Errorf("the status is %v", answer)
	}
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Info("x", "call", of)
	var logged struct{ Call map[string]any }
	if err := json.Unmarshal(line.Bytes(), &logged); err != nil {
		t.Fatal(err)
	}
	tried, _ := logged.Call["attempts"].(string)
	delete(logged.Call, "attempts")
	delete(logged.Call, "message")
	delete(logged.Call, "duration_ms")
	if got, want := fmt.Sprint(logged.Call), "map[code:Unavailable method:Check reason:STORE_UNAVAILABLE service:"+service+" target:list:/// tries:3]"; got != want {
		t.Errorf("the line has %s, want %s", got, want)
	}
	if strings.Count(tried, ": Unavailable after ") != 3 || !strings.Contains(tried, of.Attempts[2].Address) {
		t.Errorf("the line has the attempts %s", tried)
	}
}

func TestACallWithoutAConnectionNamesNone(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = closed.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	var failed counted
	_, err = dial(t, &failed, closed.Addr().String()).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	of := attempts.In(err)
	if of == nil || of.Attempts[0].Address != "" || !strings.Contains(of.LogValue().String(), "no connection: Unavailable after ") ||
		!strings.Contains(of.Error(), closed.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

func TestADeadlineIsStillOne(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	_, err := dial(t, &counted{}, serve(t)).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "x"})
	if of := attempts.In(err); of == nil || status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
}

func TestWhatSucceedsHasNoAttempts(t *testing.T) {
	var failed counted
	client := dial(t, &failed, serve(t))
	if _, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "x"}, grpc.WaitForReady(true)); err != nil || len(failed.all) > 0 {
		t.Errorf("got %v, counted %v", err, failed.all)
	}
}

func TestAStreamFailsWithItsAttempts(t *testing.T) {
	var failed counted
	address := serve(t)
	client := dial(t, &failed, address)
	for name, want := range map[string]codes.Code{"": codes.DataLoss, "whole": codes.OK} {
		stream, err := client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name}, grpc.WaitForReady(true))
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = stream.Recv()
		}
		of := attempts.In(err)
		if want == codes.OK && (!errors.Is(err, io.EOF) || of != nil) || want != codes.OK && (of == nil || of.Attempts[0].Code != want || of.Attempts[0].Address != address) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if want := []string{service + " DataLoss"}; !slices.Equal(failed.all, want) {
		t.Errorf("counted %v", failed.all)
	}
}

func TestAStreamThatItsCallerEndsFailsNoAttempt(t *testing.T) {
	var failed counted
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := dial(t, &failed, serve(t)).Watch(ctx, &grpc_health_v1.HealthCheckRequest{Service: "endless"}, grpc.WaitForReady(true))
	if err == nil {
		_, err = stream.Recv()
	}
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	if len(failed.all) > 0 {
		t.Errorf("counted %v", failed.all)
	}
}

// local calls a server without gRPC.
type local struct{ healthServer }

func (l local) Invoke(ctx context.Context, _ string, request, _ any, _ ...grpc.CallOption) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, err := l.Check(ctx, request.(*grpc_health_v1.HealthCheckRequest))
	return err
}

func (local) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.ResourceExhausted, "full")
}

func TestACallWithinTheProcessFailsWithOneAttempt(t *testing.T) {
	var failed counted
	client := grpc_health_v1.NewHealthClient(attempts.Around(local{}, failed.add))
	expired, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, unavailable := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	_, late := client.Check(expired, &grpc_health_v1.HealthCheckRequest{})
	_, full := client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if _, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "x"}); err != nil {
		t.Error(err)
	}
	if !errors.Is(late, context.DeadlineExceeded) {
		t.Errorf("got %v", late)
	}
	for code, err := range map[codes.Code]error{codes.Unavailable: unavailable, codes.DeadlineExceeded: late, codes.ResourceExhausted: full} {
		if of := attempts.In(err); of == nil || of.Service != service || of.Tries != 1 || of.Attempts[0].Address != "this process" || of.Attempts[0].Code != code {
			t.Errorf("got %+v", of)
		}
	}
	if want := []string{service + " Unavailable", service + " DeadlineExceeded", service + " ResourceExhausted"}; !slices.Equal(failed.all, want) {
		t.Errorf("counted %v", failed.all)
	}
}
