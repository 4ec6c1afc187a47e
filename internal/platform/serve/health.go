package serve

import (
	"context"
	"net/http"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
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

// Check reports the state of the process.
func (h health) Check(ctx context.Context, request *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
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
	probes := grpc.NewServer()
	healthv1.RegisterHealthServer(probes, health{readiness: readiness})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			probes.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}
