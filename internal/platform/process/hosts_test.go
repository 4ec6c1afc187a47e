package process_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/process"
)

func TestTheAdminPortAnswersOnlyToItsOwnNames(t *testing.T) {
	env := newEnv(t)
	env.HasProfiles = true
	if err := env.AdminHosts.Set("Metrics.example, edge.waybook.svc."); err != nil {
		t.Fatal(err)
	}
	address, err := env.Admin(t.Context(), "127.0.0.1:0", process.NewReadiness(), process.NewMetrics())
	if err != nil {
		t.Fatal(err)
	}
	for host, isOurs := range map[string]bool{
		address.String(): true, "127.0.0.1": true, "10.1.2.3:8081": true, "[::1]:8081": true, "[fd00::1]": true,
		"localhost": true, "LOCALHOST:8081": true, "localhost.": true,
		"metrics.example": true, "METRICS.example.:8081": true, "edge.waybook.svc:8081": true,
		"evil.example": false, "evil.example:8081": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false,
		"evil.localhost": false, "metrics.example.evil.example": false, "127.0.0.1:8081:evil.example": false,
	} {
		for _, path := range []string{"/healthz", "/metrics", "/debug/pprof/goroutine"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address.String()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			want := http.StatusOK
			if !isOurs {
				want = http.StatusMisdirectedRequest
			}
			if response.StatusCode != want {
				t.Errorf("%s of %s: %d, want %d", path, host, response.StatusCode, want)
			}
		}
		connection, err := grpc.NewClient("passthrough:///"+address.String(),
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority(host))
		if err != nil {
			t.Fatal(err)
		}
		_, err = healthv1.NewHealthClient(connection).Check(t.Context(), &healthv1.HealthCheckRequest{Service: process.Liveness})
		if (status.Code(err) == codes.OK) != isOurs {
			t.Errorf("a gRPC probe of %s: %v", host, err)
		}
		_ = connection.Close()
	}
	if err := env.Stack.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAdminHostsAreNames(t *testing.T) {
	var hosts process.AdminHosts
	if err := hosts.Set(" A.example,b.example.,"); err != nil || hosts.String() != "a.example,b.example" {
		t.Errorf("%v, %v", hosts, err)
	}
	for _, wrong := range []string{"http://a.example", "a.example:8081", "*.example", "a b"} {
		if err := hosts.Set(wrong); err == nil || !strings.Contains(fmt.Sprint(err), wrong) || hosts.String() != "a.example,b.example" {
			t.Errorf("%q: %v, %v", wrong, hosts, err)
		}
	}
}
