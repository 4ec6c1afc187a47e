// Package requestid follows one request of a client through all of Waybook: the edge
// gives it an id, tells the client in a header, and hands it on with each call, so that
// whatever any program logs of the request carries it.
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
	// Header tells the id to the client, with every reply of the edge.
	Header = "X-Request-Id"
	// metadataKey hands it on between processes.
	metadataKey = "x-request-id"
	// maxLength bounds an id that another process hands on.
	maxLength = 64
)

type contextKey struct{}

// New returns a new id, 32 hexadecimal digits. It is a name and no secret, so it need
// not be hard to guess.
func New() string {
	var random [16]byte
	binary.NativeEndian.PutUint64(random[:8], rand.Uint64()) // #nosec G404 -- no secret
	binary.NativeEndian.PutUint64(random[8:], rand.Uint64()) // #nosec G404 -- no secret
	var digits [2 * len(random)]byte
	hex.Encode(digits[:], random[:])
	return string(digits[:])
}

// With returns a context of the request with an id.
func With(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// From returns the id of the request that a context is of; empty when it has none.
func From(ctx context.Context) string {
	id, _ := ctx.Value(contextKey{}).(string)
	return id
}

// Receive returns a context with the id that the caller of an RPC handed on. One that
// is no plain word is dropped.
func Receive(ctx context.Context) context.Context {
	if From(ctx) != "" {
		return ctx
	}
	values := metadata.ValueFromIncomingContext(ctx, metadataKey)
	if len(values) == 0 || !isWord(values[0]) {
		return ctx
	}
	return With(ctx, values[0])
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

// DialOptions hand the id on with each call of a connection.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(
			ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption,
		) error {
			return call(send(ctx), method, request, reply, connection, options...)
		}),
		grpc.WithChainStreamInterceptor(func(
			ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			return open(send(ctx), description, connection, method, options...)
		}),
	}
}
