// Package requestid gives each request of a client an id that follows it through all of
// Waybook. The edge creates the id, returns it to the client in a header, and sends it with
// each call. Every program includes it in its log lines about the request.
package requestid

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

const (
	// Header is the HTTP header with the id in each reply of the edge.
	Header = "X-Request-Id"
	// metadataKey is the gRPC metadata key with the id.
	metadataKey = "x-request-id"
	// maxLength bounds an id received from another process.
	maxLength = 64
)

type contextKey struct{}

// New returns a new id of 32 hexadecimal digits. The id is not a secret, so it may be
// guessable.
func New() string {
	var random [16]byte
	binary.NativeEndian.PutUint64(random[:8], rand.Uint64()) // #nosec G404 -- not a secret
	binary.NativeEndian.PutUint64(random[8:], rand.Uint64()) // #nosec G404 -- not a secret
	var digits [2 * len(random)]byte
	hex.Encode(digits[:], random[:])
	return string(digits[:])
}

// With returns a context with the id of its request.
func With(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// From returns the request id of a context; empty if it has none. In the handler of an RPC it is
// the id that the caller sent. From ignores a received id that is too long or has other characters
// than letters, digits and hyphens.
func From(ctx context.Context) string {
	if id, _ := ctx.Value(contextKey{}).(string); id != "" {
		return id
	}
	values := metadata.ValueFromIncomingContext(ctx, metadataKey)
	if len(values) == 0 || !isWord(values[0]) {
		return ""
	}
	return values[0]
}

// isWord reports whether an id is short and made of letters, digits and hyphens.
func isWord(id string) bool {
	if id == "" || len(id) > maxLength {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return true
}

func send(ctx context.Context) context.Context {
	if id := From(ctx); id != "" {
		return metadata.AppendToOutgoingContext(ctx, metadataKey, id)
	}
	return ctx
}

// DialOptions send the id with each call of a connection.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(
			ctx context.Context, method string, request, reply any, connection *grpc.ClientConn,
			call grpc.UnaryInvoker, options ...grpc.CallOption,
		) error {
			return call(send(ctx), method, request, reply, connection, options...)
		}),
		grpc.WithChainStreamInterceptor(func(
			ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
			open grpc.Streamer, options ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			return open(send(ctx), description, connection, method, options...)
		}),
	}
}
