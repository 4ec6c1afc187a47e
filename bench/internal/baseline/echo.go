package baseline

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	// Registers the message types of the cases.
	_ "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	_ "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	_ "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// describe returns a service with a method per case. It decodes each request and encodes each
// reply, like any service.
func describe(answers []Answer) (*grpc.ServiceDesc, error) {
	description := &grpc.ServiceDesc{ServiceName: serviceName, HandlerType: (*any)(nil)}
	for _, answer := range answers {
		request, err := messageType(answer.Request)
		if err != nil {
			return nil, err
		}
		replies, err := answer.replies()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", answer.Name, err)
		}
		if answer.Streams {
			description.Streams = append(description.Streams, grpc.StreamDesc{
				StreamName: answer.Name, ServerStreams: true,
				Handler: func(_ any, stream grpc.ServerStream) error {
					if err := stream.RecvMsg(request.New().Interface()); err != nil {
						return err
					}
					for _, reply := range replies {
						if err := stream.SendMsg(reply); err != nil {
							return err
						}
					}
					return nil
				},
			})
			continue
		}
		description.Methods = append(description.Methods, grpc.MethodDesc{
			MethodName: answer.Name,
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				return replies[0], decode(request.New().Interface())
			},
		})
	}
	return description, nil
}

func messageType(name string) (protoreflect.MessageType, error) {
	return protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
}

func (a Answer) replies() ([]proto.Message, error) {
	reply, err := messageType(a.Reply)
	if err != nil {
		return nil, err
	}
	if len(a.Messages) == 0 {
		return nil, fmt.Errorf("the answer has no message")
	}
	replies := make([]proto.Message, len(a.Messages))
	for i, encoded := range a.Messages {
		replies[i] = reply.New().Interface()
		if err := proto.Unmarshal(encoded, replies[i]); err != nil {
			return nil, err
		}
	}
	return replies, nil
}
