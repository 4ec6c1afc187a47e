package mtls

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Clients are the clients that may call a service, as DNS names of their certificates. It
// is a flag.Value.
type Clients []string

// String returns the names, separated by commas.
func (c *Clients) String() string { return strings.Join(*c, ",") }

// Set parses names that are separated by commas.
func (c *Clients) Set(value string) error {
	*c = nil
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*c = append(*c, name)
		}
	}
	return nil
}

// Unary is an interceptor that rejects unary calls from other clients.
func (c Clients) Unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := c.Admit(ctx); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// Stream is an interceptor that rejects streams from other clients.
func (c Clients) Stream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := c.Admit(stream.Context()); err != nil {
		return err
	}
	return handler(server, stream)
}

// Admit returns an error unless the caller's certificate is on the list.
func (c Clients) Admit(ctx context.Context) error {
	var names []string
	if caller, ok := peer.FromContext(ctx); ok {
		if info, ok := caller.AuthInfo.(credentials.TLSInfo); ok && len(info.State.VerifiedChains) > 0 {
			names = info.State.VerifiedChains[0][0].DNSNames
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c, name) }) {
		return nil
	}
	// Not an apierror.Error: that package imports the storage port, which the edge must not
	// link.
	refused := status.Newf(codes.PermissionDenied,
		"your certificate has the names %s; this service serves only clients named %s", strings.Join(names, ", "), strings.Join(c, ", "))
	if detailed, err := refused.WithDetails(&errdetails.ErrorInfo{Reason: "CLIENT_NOT_ALLOWED", Domain: "waybook"}); err == nil {
		refused = detailed
	}
	return refused.Err()
}
