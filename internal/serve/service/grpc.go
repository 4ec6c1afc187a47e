package service

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/waybook/waybook/internal/serve"
)

// drainTime is how long calls under way may take once a server stops.
const drainTime = 5 * time.Second

// Service is one of Waybook's services.
type Service interface {
	// Register registers the service's servers.
	Register(grpc.ServiceRegistrar)
	// Sweep does what is due from time to time, such as finishing deletions.
	Sweep(context.Context) error
}

// Serve serves services on a listener, with health and reflection, and pushes its
// graceful stop: unhealthy first, then calls under way may end.
func Serve(env serve.Env, name string, listener net.Listener, interceptors *Interceptors, services ...Service) {
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(interceptors.Unary),
		grpc.ChainStreamInterceptor(interceptors.Stream),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
	)
	for _, service := range services {
		service.Register(server)
	}
	healthServer := health.NewServer()
	for served := range server.GetServiceInfo() {
		healthServer.SetServingStatus(served, healthv1.HealthCheckResponse_SERVING)
	}
	healthv1.RegisterHealthServer(server, healthServer)
	reflection.Register(server)

	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); err != nil {
			env.Fail(fmt.Errorf("%s: %w", name, err))
		}
	}()
	env.Stack.Push(name, func(ctx context.Context) error {
		healthServer.Shutdown()
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			server.GracefulStop()
		}()
		timer := time.NewTimer(drainTime)
		defer timer.Stop()
		select {
		case <-drained:
		case <-ctx.Done():
			server.Stop()
		case <-timer.C:
			server.Stop()
		}
		<-drained
		<-done
		return nil
	})
}
