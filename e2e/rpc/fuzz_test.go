package rpc_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// For any request, each RPC succeeds or fails with a stable reason that is not a server error. The
// second message is for RPCs that receive several.
func FuzzNoRequestIsTheServicesFault(f *testing.F) {
	w := start(f, settleFast)
	user := w.newUser("小旅人")
	ids := []int64{user, w.newAlbum(user, "x"), w.newBlog(user), w.newPoi(user, "x"), 0, -1, tooHigh}
	var methods []protoreflect.MethodDescriptor
	all := everyTarget()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		methods = append(methods, all[name].MethodDescriptor)
		for _, id := range ids {
			raw := must(proto.Marshal(all[name].validRequest(id, id, id, id)))(f)
			f.Add(uint8(i), raw, raw)
			f.Add(uint8(i), []byte{}, raw)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, first, second []byte) {
		method := methods[int(which)%len(methods)]
		for _, raw := range [][]byte{first, second} {
			if proto.Unmarshal(raw, dynamicpb.NewMessage(method.Input())) != nil {
				return // gRPC itself rejects it
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		messages := [][]byte{first, second}
		if !method.IsStreamingClient() {
			messages = messages[:1]
		}
		err := w.send(ctx, method, messages...)
		answer := status.Convert(err)
		switch answer.Code() {
		case codes.OK:
		case codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied, codes.Unauthenticated,
			codes.FailedPrecondition, codes.ResourceExhausted, codes.Aborted:
			if len(answer.Details()) == 0 {
				t.Errorf("%s fails without a reason: %v", method.FullName(), err)
			}
		default:
			t.Errorf("%s: %v", method.FullName(), err)
		}
	})
}

// asIs is a codec that sends bytes unchanged and ignores received ones.
type asIs struct{}

// Name returns the name of the encoding of the bytes.
func (asIs) Name() string { return "proto" }

// Marshal returns the bytes unchanged.
func (asIs) Marshal(message any) ([]byte, error) { return message.([]byte), nil }

// Unmarshal ignores the reply.
func (asIs) Unmarshal([]byte, any) error { return nil }

// send calls a method and reads its replies to the end, or one of a method that watches.
func (w *waybook) send(ctx context.Context, method protoreflect.MethodDescriptor, messages ...[]byte) error {
	path := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
	description := &grpc.StreamDesc{ServerStreams: true, ClientStreams: method.IsStreamingClient()}
	stream, err := w.Connection.NewStream(ctx, description, path, grpc.ForceCodec(asIs{}))
	if err != nil {
		return err
	}
	for _, message := range messages {
		if err := stream.SendMsg(message); err != nil {
			break // RecvMsg returns the cause
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		if err := stream.RecvMsg(nil); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if strings.HasPrefix(string(method.Name()), "Watch") {
			return nil // it would go on for minutes
		}
	}
}
