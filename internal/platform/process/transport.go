package process

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/waybook/waybook/internal/platform/discovery"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/requestid"
)

// TransportFlags configure the security of connections between processes.
type TransportFlags struct {
	// Files locate the process's certificate and key.
	Files mtls.Files
	// PlainText allows connections beyond loopback without TLS.
	PlainText bool
}

func (f *TransportFlags) Register(flags *flag.FlagSet) {
	f.Files.Register(flags)
	flags.BoolVar(&f.PlainText, "plaintext", false, "allow gRPC without TLS on addresses other than loopback")
}

// Load reads the files that the flags name.
func (f TransportFlags) Load(log *slog.Logger) (Transport, error) {
	loaded, err := mtls.Load(f.Files, log)
	return Transport{Identity: loaded, plainText: f.PlainText}, err
}

// Transport secures the gRPC connections of a process. With an identity it uses mutual TLS.
// Without one it uses plain text, on loopback only unless -plaintext is set. The zero value
// has no identity.
type Transport struct {
	// Identity is nil when the process has none.
	Identity  *mtls.Identity
	plainText bool
}

// check rejects plain text to or from other machines. flagName is the flag that holds the
// address.
func (t Transport) check(flagName, address string) error {
	if t.Identity != nil || t.plainText || isLoopback(address) {
		return nil
	}
	return fmt.Errorf("-%s %s would use plain text beyond this machine: set -tls-cert, -tls-key and -tls-ca, or "+
		"allow it with -plaintext",
		flagName, address)
}

// isLoopback reports whether an address, such as localhost:9091 or dns:///album:9092, is
// certain to stay on this machine.
func isLoopback(address string) bool {
	if scheme, rest, ok := strings.Cut(address, ":"); ok && (scheme == "unix" || scheme == "unix-abstract") &&
		rest != "" {
		return true
	}
	// Any other DNS server, as in dns://192.0.2.1/localhost:1, may resolve to any address.
	host, port, err := net.SplitHostPort(strings.TrimPrefix(address, "dns:///"))
	if err != nil {
		return false
	}
	// gRPC resolves a target that is not a URL, such as dns:///localhost:%, as a name of
	// its own.
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ListenGRPC opens the listener of a gRPC port. The address is that of a TCP port, or
// unix:PATH for a Unix socket, which only the process's user can connect to.
func (t Transport) ListenGRPC(ctx context.Context, flagName, address string) (net.Listener, error) {
	if err := t.check(flagName, address); err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(address, unixScheme); ok {
		return listenUnix(ctx, flagName, path)
	}
	return Listen(ctx, flagName, address)
}

// serviceConfig spreads calls over all addresses of a service and retries UNAVAILABLE calls of the
// methods that the contracts declare to be reads or idempotent; creations are, because they carry
// a request id. Others are not retried, such as updates: the first attempt may have happened, and
// another caller's update after it, which a second attempt would undo. gRPC still repeats a call
// that no server has seen. The throttling keeps retries from adding to an outage.
func serviceConfig() (string, error) {
	type method struct {
		Service string `json:"service"`
		Method  string `json:"method"`
	}
	var retried []method
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				each := service.Methods().Get(j)
				options, _ := each.Options().(*descriptorpb.MethodOptions)
				if options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN {
					retried = append(retried, method{string(service.FullName()), string(each.Name())})
				}
			}
		}
		return true
	})
	config, err := json.Marshal(map[string]any{
		"loadBalancingConfig": []any{map[string]any{"round_robin": map[string]any{}}},
		"methodConfig": []any{map[string]any{"name": retried, "retryPolicy": map[string]any{
			"maxAttempts": 4, "initialBackoff": "0.05s", "maxBackoff": "1s", "backoffMultiplier": 2,
			"retryableStatusCodes": []string{"UNAVAILABLE"},
		}}},
		"retryThrottling": map[string]any{"maxTokens": 100, "tokenRatio": 0.1},
	})
	return string(config), err
}

// StreamWindow bounds what either end of a stream keeps that has not been read, in bytes.
// ConnectionWindow costs no memory: a connection is read all the time.
const StreamWindow, ConnectionWindow = 64 << 10, 1 << 20

// Dial returns a connection to a service, which connects on first use. address is a gRPC target,
// such as album:9092, whose addresses come from DNS, again and again. It may also be several
// addresses separated by commas, or unix:PATH. name is the name of the service and of the flag
// that holds the address.
func (t Transport) Dial(name, address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	addresses := []string{address}
	path, isSocket := strings.CutPrefix(address, unixScheme)
	if !isSocket {
		addresses = strings.Split(address, ",")
	}
	for _, each := range addresses {
		if err := t.check(name, each); err != nil {
			return nil, err
		}
	}
	config, err := serviceConfig()
	if err != nil {
		return nil, err
	}
	var secured credentials.TransportCredentials = insecure.NewCredentials()
	if t.Identity != nil {
		secured = t.Identity.Client()
	}
	options = append(options,
		grpc.WithTransportCredentials(secured),
		grpc.WithDefaultServiceConfig(config),
		grpc.WithDisableServiceConfig(), // it would be looked up as text in DNS
		// With gRPC's default, a server that comes back would stay unused for up to two
		// minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2,
				MaxDelay: 3 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		// By default the windows grow to 16 MiB. A stream whose reader is slow would keep as much.
		grpc.WithStaticStreamWindowSize(StreamWindow),
		grpc.WithStaticConnWindowSize(ConnectionWindow),
	)
	if isSocket {
		address = socketTarget(path)
	}
	options = append(options, grpc.WithResolvers(discovery.NewBuilder()))
	if len(addresses) > 1 {
		listed := manual.NewBuilderWithScheme("list")
		listed.InitialState(resolver.State{Addresses: resolved(addresses)})
		address, options = "list:///"+name, append(options, grpc.WithResolvers(listed))
	}
	connection, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("address of %s: %w", name, err)
	}
	return connection, nil
}

// resolved pairs each address with the name that its certificate must have.
func resolved(addresses []string) []resolver.Address {
	list := make([]resolver.Address, len(addresses))
	for i, address := range addresses {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		list[i] = resolver.Address{Addr: address, ServerName: host}
	}
	return list
}

// Dial connects to another service and pushes the closing of the connection. Calls over it
// carry the trace and the request id of their context.
func (e Env) Dial(name, address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	connection, err := e.Transport.Dial(name, address,
		slices.Concat(e.Tracing.DialOptions(), requestid.DialOptions(), options)...)
	if err != nil {
		return nil, err
	}
	e.Stack.Push("connection to "+name, func(context.Context) error { return connection.Close() })
	return connection, nil
}
