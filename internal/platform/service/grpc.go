package service

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip" // callers may compress
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/arena"
	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/admission"
	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/connlimit"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/proto/descriptors"
	storev1 "github.com/waybook/waybook/proto/gen/waybook/store/v1"
)

// connectionAge is how long a client keeps a connection. A client that reconnects finds new
// servers and presents its certificate again.
const connectionAge = 5 * time.Minute

// The limits of a gRPC port. gRPC's own defaults are 16 MiB of metadata, any number of streams,
// two minutes for a handshake, and windows that grow to 16 MiB.
const (
	// maxConnections and maxClientConnections limit the connections, in all and of one address.
	// Each replica of the edge and of another service opens one, and two during an update.
	maxConnections, maxClientConnections = 512, 64
	// handshakeTime is how long a client may take for TLS and HTTP/2 before its first call.
	handshakeTime = 10 * time.Second
	// pingAfter is how long a client may be silent until the port pings it; it has pingTime to
	// reply.
	pingAfter, pingTime = time.Minute, 20 * time.Second
	// minPing is the shortest time between two pings of a client; the third earlier one ends its
	// connection.
	minPing = 10 * time.Second
	// maxMetadata bounds the metadata of a call in bytes, where each entry counts for 32 more.
	maxMetadata = 16 << 10
	// maxStreams limits the calls in flight of a connection; others wait at the client. An edge
	// has at most 768, as many as -max-requests and -max-long-replies allow.
	maxStreams = 1024
	// maxMessage is gRPC's default. The largest request is the signed text of a form.
	maxMessage = 4 << 20
	// streamWorkers is how many goroutines stay for the next calls (docs/decisions/limits.md). A
	// call on a new one grows its stack several times, at a seventh of the service's CPU time for
	// a short call. More calls at the same time get goroutines of their own.
	streamWorkers = 64
)

// Service is one of Waybook's services. Its sweep does its periodic work, such as finishing
// deletions.
type Service interface {
	Sweeper
	// Register registers the service's servers.
	Register(grpc.ServiceRegistrar)
	// Parts returns what the service serves of the contracts that it shares with others.
	Parts() Parts
}

// Serve serves services on a listener, with the StoreService of their store, health and
// reflection, and pushes its end, which reports unhealthy first and then drains the calls in
// flight. If env has an identity, Serve accepts only calls that policy admits.
// store has no source for a MongoDB.
func Serve(
	env process.Env, name string, listener net.Listener, policy *access.Policy, interceptors *Interceptors,
	store Copied, services ...Service,
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
	Register(server, services...)
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
		// before it began
		if err := server.Serve(connections.Listen(listener)); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			env.Fail(fmt.Errorf("%s: %w", name, err))
		}
	}()
	env.Stack.PushPort(name, func(ctx context.Context) error {
		healthServer.Shutdown()
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

// unknownMethod answers calls of methods that the port does not have.
func unknownMethod(any, grpc.ServerStream) error {
	return apierror.New(codes.Unimplemented, "METHOD_UNKNOWN",
		"this port has no such method; reflection lists those that it has")
}

// ofKnown lets calls of unknown methods pass an interceptor by, so that it counts none under a
// name that a client has made up.
func ofKnown(interceptor grpc.StreamServerInterceptor) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if server == nil {
			return handler(server, stream)
		}
		return interceptor(server, stream, info, handler)
	}
}

// healthServer is a health.Server with reasons.
type healthServer struct{ *health.Server }

// Check returns the health of a service, or NOT_FOUND as the protocol says.
func (h healthServer) Check(ctx context.Context,
	request *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	reply, err := h.Server.Check(ctx, request)
	if status.Code(err) == codes.NotFound {
		err = apierror.NotFound("SERVICE_UNKNOWN", "this port has no service %.100q", request.GetService())
	}
	return reply, err
}

// longestWait is how long a call may queue. It is well below callers' deadlines, so that a
// queued call still has time to finish.
const longestWait = 500 * time.Millisecond

// Load holds the concurrency limits of each service of a program. The zero value means no
// limits.
type Load struct {
	// Calls limits unary calls. Streams limits streaming calls, which have their own limit
	// because a stream lasts as long as its reader wants. As many calls again may queue.
	Calls, Streams int
}

func (l *Load) Register(flags *flag.FlagSet) {
	flags.IntVar(&l.Calls, "max-calls", 1024,
		"concurrency limit of each service for unary RPCs, 0 for none; as many again queue for up to half a second, "+
			"others are rejected")
	flags.IntVar(&l.Streams, "max-streams", 512,
		"concurrency limit of each service for streaming RPCs, 0 for none; as many again queue for up to half a "+
			"second, others are rejected")
}

// gates are the concurrency limits of the program's services, created on first use. Each
// service has its own, because services call each other. A service full of calls that wait
// for another one must not block that one. They may be used concurrently.
type gates struct {
	load    Load
	metrics *process.Metrics

	mu    sync.Mutex
	known map[string]pair
}

type pair struct{ calls, streams *admission.Gate }

// of returns the gates of a method's service. Health checks and reflection have none, so
// operators can reach an overloaded program.
func (g *gates) of(method string) pair {
	rest, ours := strings.CutPrefix(method, "/waybook.")
	if !ours {
		return pair{}
	}
	name, _, _ := strings.Cut(rest, ".")
	g.mu.Lock()
	defer g.mu.Unlock()
	made, known := g.known[name]
	if !known {
		made = pair{admission.New(limits(g.load.Calls)), admission.New(limits(g.load.Streams))}
		g.known[name] = made
		g.metrics.CountGate(name+" calls", made.calls)
		g.metrics.CountGate(name+" streams", made.streams)
	}
	return made
}

func limits(slots int) admission.Limits {
	return admission.Limits{Slots: int64(slots), Queue: slots, Wait: longestWait}
}

// The memory of a reply over TCP is used again once the reply is encoded.

func reuseMemory() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(lendMemory),
		grpc.ForceServerCodecV2(codec{encoding.GetCodecV2(proto.Name)}),
	}
}

// lentReply is a reply with its memory. Only the codec sees it.
type lentReply struct {
	message any
	memory  *arena.Arena
}

// codec is gRPC's codec for messages. It takes the memory of a lent one back.
type codec struct{ encoding.CodecV2 }

// Marshal encodes a message.
func (c codec) Marshal(message any) (mem.BufferSlice, error) {
	lent, isLent := message.(*lentReply)
	if !isLent {
		return c.CodecV2.Marshal(message)
	}
	defer lent.memory.Free()
	return c.CodecV2.Marshal(lent.message)
}

func lendMemory(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, memory := arena.Lend(ctx)
	message, err := handler(arena.Take(ctx), request)
	if err != nil {
		memory.Free()
		return nil, err
	}
	return &lentReply{message, memory}, nil
}

// WithContext returns a stream with another context.
func WithContext(ctx context.Context, stream grpc.ServerStream) grpc.ServerStream {
	return inContext{stream, ctx}
}

type inContext struct {
	grpc.ServerStream
	ctx context.Context
}

func (s inContext) Context() context.Context { return s.ctx }
