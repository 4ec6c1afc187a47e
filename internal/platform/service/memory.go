package service

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/waybook/waybook/internal/arena"
)

// The memory of a reply over TCP is used again once the reply is encoded.

func reuseMemory() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(lendMemory),
		grpc.ChainStreamInterceptor(lendMemoryToStream),
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
	ctx, memory := arena.With(ctx)
	message, err := handler(ctx, request)
	if err != nil {
		memory.Free()
		return nil, err
	}
	return &lentReply{message, memory}, nil
}

// lendMemoryToStream lends memory for the messages of a stream. gRPC has encoded a message when SendMsg returns, so
// the service may use the memory again.
func lendMemoryToStream(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, memory := arena.With(stream.Context())
	defer memory.Free()
	return handler(server, WithContext(ctx, stream))
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
