package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // callers may compress
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/proto/descriptors"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
)

// connectionAge is how long a client keeps a connection. A client that reconnects finds new
// servers and presents its certificate again.
const connectionAge = 5 * time.Minute

// The limits of a gRPC port. gRPC's own defaults are 16 MiB of metadata, any number of streams, two
// minutes for a handshake, and windows that grow to 16 MiB.
const (
	// maxConnections and maxClientConnections limit the connections, in all and of one address.
	// Each replica of the edge and of another service opens one, and two during an update.
	maxConnections, maxClientConnections = 512, 64
	// handshakeTime is how long a client may take for TLS and HTTP/2 before its first call.
	handshakeTime = 10 * time.Second
	// pingAfter is how long a client may be silent until the port pings it; it has pingTime to reply.
	pingAfter, pingTime = time.Minute, 20 * time.Second
	// minPing is the shortest time between two pings of a client; the third earlier one ends its connection.
	minPing = 10 * time.Second
	// maxMetadata bounds the metadata of a call in bytes, where each entry counts for 32 more.
	maxMetadata = 16 << 10
	// maxStreams limits the calls in flight of a connection; others wait at the client. An edge
	// has at most 768, as many as -max-requests and -max-long-replies allow.
	maxStreams = 1024
	// maxMessage is gRPC's default. The largest request is the signed text of a form.
	maxMessage = 4 << 20
	// streamWorkers is how many goroutines stay for the next calls (docs/decisions/limits.md). A call on a new one grows its
	// stack several times, at a seventh of the service's CPU time for a short call. More calls at the
	// same time get goroutines of their own.
	streamWorkers = 64
)

// Service is one of Waybook's services.
type Service interface {
	// Name is the service's name in metrics and logs.
	Name() string
	// Register registers the service's servers.
	Register(grpc.ServiceRegistrar)
	// Sweep does the periodic work of the service, such as finishing deletions.
	Sweep(context.Context) error
}

// ender is a service with streams that last until it ends them.
type ender interface{ End() }

// Serve serves services on a listener, with the StoreService of their store, health and
// reflection, and pushes its end, which reports unhealthy first and then drains the calls in
// flight. If env has an identity, Serve accepts only calls that policy admits.
// store is nil for a MongoDB.
func Serve(
	env process.Env, name string, listener net.Listener, policy *access.Policy, interceptors *Interceptors,
	store Source, services ...Service,
) {
	options := append(env.Tracing.ServerOptions(), reuseMemory()...)
	if env.Transport.Identity != nil {
		options = append(options, grpc.Creds(env.Transport.Identity.Server()))
		interceptors = interceptors.under(policy.Admit)
	} else {
		interceptors = interceptors.under(admitAll(access.PlainText))
	}
	server := grpc.NewServer(append(options,
		grpc.ChainUnaryInterceptor(interceptors.Unary),
		grpc.ChainStreamInterceptor(ofKnown(interceptors.Stream)),
		grpc.UnknownServiceHandler(unknownMethod),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: pingAfter, Timeout: pingTime,
			MaxConnectionAge: connectionAge, MaxConnectionAgeGrace: streamTimeout,
		}),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.MaxHeaderListSize(maxMetadata),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.StaticStreamWindowSize(process.StreamWindow),
		grpc.StaticConnWindowSize(process.ConnectionWindow),
	)...)
	for _, service := range services {
		service.Register(server)
	}
	storev1.RegisterStoreServiceServer(server, newStoreServer(store))
	healthServer := healthServer{health.NewServer()}
	for served := range server.GetServiceInfo() {
		healthServer.SetServingStatus(served, healthv1.HealthCheckResponse_SERVING)
	}
	healthv1.RegisterHealthServer(server, healthServer)
	describe(server)

	env.Announce(slog.String("grpc", process.Target(listener.Addr())))
	connections := connlimit.New(connlimit.Limits{All: maxConnections, PerClient: maxClientConnections})
	interceptors.metrics.CountConnections("grpc", connections)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(connections.Listen(listener)); err != nil {
			env.Fail(fmt.Errorf("%s: %w", name, err))
		}
	}()
	env.Stack.PushPort(name, func(ctx context.Context) error {
		healthServer.Shutdown()
		for _, service := range services {
			if streaming, ok := service.(ender); ok {
				streaming.End()
			}
		}
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			server.GracefulStop()
		}()
		select {
		case <-drained:
		case <-ctx.Done():
			server.Stop()
		}
		<-drained
		<-done
		return nil
	})
}

// describe adds reflection, which serves the contracts with their comments.
func describe(server *grpc.Server) {
	options := reflection.ServerOptions{Services: server, DescriptorResolver: &descriptors.Resolver{}}
	reflectionv1.RegisterServerReflectionServer(server, reflection.NewServerV1(options))
	reflectionv1alpha.RegisterServerReflectionServer(server, reflection.NewServer(options))
}
