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

// Clients are the names of those who may call a service: DNS names of certificates.
// It is a flag's value.
type Clients []string

// String gives the names with commas between them.
func (c *Clients) String() string { return strings.Join(*c, ",") }

// Set takes names with commas between them.
func (c *Clients) Set(value string) error {
	*c = nil
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*c = append(*c, name)
		}
	}
	return nil
}

// Unary is the interceptor that refuses everybody else's unary calls.
func (c Clients) Unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := c.admit(ctx); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

// Stream is the interceptor that refuses everybody else's streams.
func (c Clients) Stream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := c.admit(stream.Context()); err != nil {
		return err
	}
	return handler(server, stream)
}

func (c Clients) admit(ctx context.Context) error {
	var names []string
	if caller, ok := peer.FromContext(ctx); ok {
		if info, ok := caller.AuthInfo.(credentials.TLSInfo); ok && len(info.State.VerifiedChains) > 0 {
			names = info.State.VerifiedChains[0][0].DNSNames
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c, name) }) {
		return nil
	}
	// Not by fault, which knows the storage port: the edge must not link that.
	refused := status.Newf(codes.PermissionDenied,
		"your certificate names %s; this service answers %s only", strings.Join(names, ", "), strings.Join(c, ", "))
	if detailed, err := refused.WithDetails(&errdetails.ErrorInfo{Reason: "CLIENT_NOT_ALLOWED", Domain: "waybook"}); err == nil {
		refused = detailed
	}
	return refused.Err()
}
