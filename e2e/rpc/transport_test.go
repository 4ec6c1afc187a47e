package rpc_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

func TestTheHealthOfAnUnknownServiceIsNotFound(t *testing.T) {
	w := start(t)
	_, err := healthv1.NewHealthClient(w.connection).Check(t.Context(), &healthv1.HealthCheckRequest{Service: "waybook.none.v1.NoneService"})
	expectFault(t, err, codes.NotFound, "SERVICE_UNKNOWN")
}

func TestAnUnknownMethodIsReportedAsEachFailure(t *testing.T) {
	w := start(t)
	for _, method := range []string{"/waybook.album.v1.AlbumService/Fly", "/waybook.none.v1.NoneService/Get"} {
		expectFault(t, w.connection.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{}), codes.Unimplemented, "METHOD_UNKNOWN")
	}
}

// bytesCodec sends bytes in place of a message.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error) { return v.([]byte), nil }
func (bytesCodec) Unmarshal([]byte, any) error   { return nil }
func (bytesCodec) Name() string                  { return "proto" }

// docs/grpc.md lists these. gRPC writes them before a service sees the call, so they have no details.
func TestTheFailuresOfTheTransportAreThoseOfTheGuide(t *testing.T) {
	w := start(t)
	guide := string(must(os.ReadFile("../../docs/grpc.md"))(t))
	const get = "/waybook.album.v1.AlbumService/GetAlbum"
	call := func(ctx context.Context, request any, options ...grpc.CallOption) error {
		return w.connection.Invoke(ctx, get, request, &emptypb.Empty{}, options...)
	}
	for _, test := range []struct {
		err  error
		code codes.Code
		text string
	}{
		{call(t.Context(), make([]byte, 4<<20+1), grpc.ForceCodec(bytesCodec{})), codes.ResourceExhausted, "grpc: received message larger than max"},
		{call(t.Context(), []byte{0x0a, 0xff}, grpc.ForceCodec(bytesCodec{})), codes.Internal, "grpc: failed to unmarshal the received message"},
		{call(metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("x", 17<<10)), &emptypb.Empty{}), codes.Internal, "header list size"},
	} {
		if got := status.Convert(test.err); got.Code() != test.code || !strings.Contains(got.Message(), test.text) || len(got.Details()) > 0 {
			t.Errorf("got %v, want %v with %q", test.err, test.code, test.text)
		}
		if !strings.Contains(guide, test.text) {
			t.Errorf("docs/grpc.md lacks %q", test.text)
		}
	}
}
