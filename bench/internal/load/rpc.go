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
	return &rpcConnection{r, r.Channels[n%len(r.Channels)]}, nil
}

type rpcConnection struct {
	RPC
	channel *grpc.ClientConn
}

// Do makes one call.
func (c *rpcConnection) Do(ctx context.Context) error {
	return c.call(ctx, c.channel, func(proto.Message) error { return nil })
}

// Close does nothing: the creator of the channel closes it.
func (c *rpcConnection) Close() error { return nil }

// Replies makes one call and returns all reply messages.
func (r RPC) Replies(ctx context.Context) (replies []proto.Message, err error) {
	err = r.call(ctx, r.Channels[0], func(reply proto.Message) error {
		replies = append(replies, reply)
		return nil
	})
	return replies, err
}

func (r RPC) call(ctx context.Context, channel *grpc.ClientConn, each func(proto.Message) error) error {
	if !r.Streams {
		reply := r.Reply.ProtoReflect().New().Interface()
		if err := channel.Invoke(ctx, r.Method, r.Request, reply); err != nil {
			return err
		}
		return each(reply)
	}
	stream, err := channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, r.Method)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(r.Request); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		reply := r.Reply.ProtoReflect().New().Interface()
		err := stream.RecvMsg(reply)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(reply); err != nil {
			return err
		}
	}
}
