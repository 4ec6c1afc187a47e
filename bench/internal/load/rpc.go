package load

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// RPC calls one method with the standard gRPC client.
type RPC struct {
	// Channels are shared by the connections. A single channel writes with one goroutine,
	// which would limit the throughput.
	Channels []*grpc.ClientConn
	// Method is the full name, with the leading slash.
	Method  string
	Request proto.Message
	// Reply is an empty message of the reply's type.
	Reply proto.Message
	// Streams is true if the server replies with a stream of messages.
	Streams bool
}

// Open returns the n-th connection.
func (r RPC) Open(n int) (Connection, error) {
	channel := r.Channels[n%len(r.Channels)]
	return Func(func(ctx context.Context) error {
		return r.call(ctx, channel, func(proto.Message) {})
	}), nil
}

// Replies makes one call and returns all reply messages.
func (r RPC) Replies(ctx context.Context) (replies []proto.Message, err error) {
	err = r.call(ctx, r.Channels[0], func(reply proto.Message) { replies = append(replies, reply) })
	return replies, err
}

// call makes one call and shows each message of the reply.
func (r RPC) call(ctx context.Context, channel *grpc.ClientConn, show func(proto.Message)) error {
	if !r.Streams {
		reply := r.Reply.ProtoReflect().New().Interface()
		err := channel.Invoke(ctx, r.Method, r.Request, reply)
		show(reply)
		return err
	}
	stream, err := channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, r.Method)
	if err != nil {
		return err
	}
	if err := errors.Join(stream.SendMsg(r.Request), stream.CloseSend()); err != nil {
		return err
	}
	for {
		reply := r.Reply.ProtoReflect().New().Interface()
		switch err := stream.RecvMsg(reply); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		show(reply)
	}
}
