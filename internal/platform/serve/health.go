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

// The names by which grpc.health.v1.Health on the admin port tells how a process is.
const (
	// Liveness: the process runs. It never asks the store.
	Liveness = "liveness"
	// ReadinessName: the process should be sent requests. The empty name means the same.
	ReadinessName = "readiness"
)

// health answers gRPC probes, which can't show a certificate and so can't ask a port
// that wants one.
type health struct {
	healthv1.UnimplementedHealthServer
	readiness *Readiness
}

// Check tells how the process is.
func (h health) Check(ctx context.Context, request *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	serving := &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}
	switch request.GetService() {
	case Liveness:
	case ReadinessName, "":
		if h.readiness.Err(ctx) != nil {
			serving.Status = healthv1.HealthCheckResponse_NOT_SERVING
		}
	default:
		return nil, status.Errorf(codes.NotFound, "no such check; there are %q and %q", Liveness, ReadinessName)
	}
	return serving, nil
}

// withHealth serves gRPC health checks beside a handler.
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
