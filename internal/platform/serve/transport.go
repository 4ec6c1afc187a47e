package serve

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
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

	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/requestid"
)

// TransportFlags say how connections between processes are secured.
type TransportFlags struct {
	// Files are the process's own identity.
	Files mtls.Files
	// PlainText allows connections beyond loopback without one.
	PlainText bool
}

// Register declares the flags.
func (f *TransportFlags) Register(flags *flag.FlagSet) {
	f.Files.Register(flags)
	flags.BoolVar(&f.PlainText, "plaintext", false, "allow gRPC without TLS on addresses other than loopback")
}

// Load reads what the flags name.
func (f TransportFlags) Load(log *slog.Logger) (Transport, error) {
	loaded, err := mtls.Load(f.Files, log)
	return Transport{Identity: loaded, plainText: f.PlainText}, err
}

// Transport secures the gRPC connections of a process: with mutual TLS when it has an
// identity, and otherwise not at all, which goes no further than loopback unless that
// was allowed. The zero value has no identity.
type Transport struct {
	// Identity is nil when the process has none.
	Identity  *mtls.Identity
	plainText bool
}

// check refuses plain text to or from other machines. flagName is the flag that gave
// the address.
func (t Transport) check(flagName, address string) error {
	if t.Identity != nil || t.plainText || isLoopback(address) {
		return nil
	}
	return fmt.Errorf("-%s %s would speak plain text with other machines: give -tls-cert, -tls-key and -tls-ca, or allow it with -plaintext",
		flagName, address)
}

// isLoopback reports whether an address, such as localhost:9091 or dns:///album:9092, is
// sure to stay on this machine.
func isLoopback(address string) bool {
	if scheme, rest, ok := strings.Cut(address, ":"); ok && (scheme == "unix" || scheme == "unix-abstract") && rest != "" {
		return true
	}
	// Another authority than DNS's own, as in dns://192.0.2.1/localhost:1, may say anything.
	host, port, err := net.SplitHostPort(strings.TrimPrefix(address, "dns:///"))
	if err != nil {
		return false
	}
	// Of what is no URL, such as dns:///localhost:%, gRPC makes a name of its own.
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ListenGRPC opens the listener of a gRPC port.
func (t Transport) ListenGRPC(ctx context.Context, flagName, address string) (net.Listener, error) {
	if err := t.check(flagName, address); err != nil {
		return nil, err
	}
	return Listen(ctx, flagName, address)
}

// serviceConfig spreads calls over all addresses of a service and repeats those that
// none could take. All that Waybook's own programs call may be repeated: creations carry
// a request id. The throttling keeps repeats from adding to an outage.
const serviceConfig = `{
	"loadBalancingConfig": [{"round_robin": {}}],
	"methodConfig": [{"name": [{}], "retryPolicy": {
		"maxAttempts": 4, "initialBackoff": "0.05s", "maxBackoff": "1s", "backoffMultiplier": 2,
		"retryableStatusCodes": ["UNAVAILABLE"]
	}}],
	"retryThrottling": {"maxTokens": 100, "tokenRatio": 0.1}
}`

// Dial returns a connection to a service, which is made when it is first needed. address
// is what gRPC takes, such as album:9092, whose addresses DNS tells, or several with
// commas between them. name is the service's name and that of the flag that gave it.
func (t Transport) Dial(name, address string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	addresses := strings.Split(address, ",")
	for _, each := range addresses {
		if err := t.check(name, each); err != nil {
			return nil, err
		}
	}
	var secured credentials.TransportCredentials = insecure.NewCredentials()
	if t.Identity != nil {
		secured = t.Identity.Client()
	}
	options = append(options,
		grpc.WithTransportCredentials(secured),
		grpc.WithDefaultServiceConfig(serviceConfig),
		// gRPC's own would leave a server that came back alone for up to two minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	)
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

// resolved gives each address the name that its certificate must have.
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

// Dial returns a connection to another service's address and pushes its closing. Calls
// over it belong to the trace and the request of their context.
func (e Env) Dial(name, address string) (*grpc.ClientConn, error) {
	connection, err := e.Transport.Dial(name, address, append(e.Tracing.DialOptions(), requestid.DialOptions()...)...)
	if err != nil {
		return nil, err
	}
	e.Stack.Push("connection to "+name, func(context.Context) error { return connection.Close() })
	return connection, nil
}
