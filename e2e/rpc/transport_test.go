package rpc_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

func TestAnUnknownMethodIsReportedAsEachFailure(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, method := range []string{"/waybook.album.v1.AlbumService/Fly", "/waybook.none.v1.NoneService/Get"} {
		expectFault(t, w.Connection.Invoke(t.Context(), method, &emptypb.Empty{}, &emptypb.Empty{}), codes.Unimplemented, "METHOD_UNKNOWN")
	}
}

// docs/callers.md lists these. gRPC writes them before a service sees the call, so they have no details.
func TestTheFailuresOfTheTransportAreThoseOfTheGuide(t *testing.T) {
	t.Parallel()
	w := start(t)
	guide := string(must(os.ReadFile("../../docs/callers.md"))(t))
	const get = "/waybook.album.v1.AlbumService/GetAlbum"
	call := func(ctx context.Context, request any, options ...grpc.CallOption) error {
		return w.Connection.Invoke(ctx, get, request, &emptypb.Empty{}, options...)
	}
	for _, test := range []struct {
		err  error
		code codes.Code
		text string
	}{
		{call(t.Context(), make([]byte, 4<<20+1), grpc.ForceCodec(asIs{})), codes.ResourceExhausted, "grpc: received message larger than max"},
		{call(t.Context(), []byte{0x0a, 0xff}, grpc.ForceCodec(asIs{})), codes.Internal, "grpc: failed to unmarshal the received message"},
		{call(metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("x", 17<<10)), &emptypb.Empty{}), codes.Internal, "header list size"},
	} {
		if got := status.Convert(test.err); got.Code() != test.code || !strings.Contains(got.Message(), test.text) || len(got.Details()) > 0 {
			t.Errorf("got %v, want %v with %q", test.err, test.code, test.text)
		}
		if !strings.Contains(guide, test.text) {
			t.Errorf("docs/callers.md lacks %q", test.text)
		}
	}
}

// compressions is what a client sees of the sizes of messages.
type compressions struct{ sent, received atomic.Bool }

func (*compressions) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*compressions) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*compressions) HandleConn(context.Context, stats.ConnStats)                       {}
func (c *compressions) HandleRPC(_ context.Context, event stats.RPCStats) {
	switch event := event.(type) {
	case *stats.OutPayload:
		c.sent.Store(event.CompressedLength < event.Length)
	case *stats.InPayload:
		c.received.Store(event.CompressedLength < event.Length)
	}
}

func TestAReplyIsCompressedIfItsRequestWas(t *testing.T) {
	t.Parallel()
	w := start(t)
	seen := &compressions{}
	connection := must(grpc.NewClient(w.GRPC, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(seen)))(t)
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	request := &accountv1.CreateUserRequest{Name: strings.Repeat("x", 100)}
	for _, isCompressed := range []bool{true, false} {
		var options []grpc.CallOption
		if isCompressed {
			options = append(options, grpc.UseCompressor(gzip.Name))
		}
		if _, err := accountv1.NewAccountServiceClient(connection).CreateUser(t.Context(), request, options...); err != nil {
			t.Fatal(err)
		}
		if seen.sent.Load() != isCompressed || seen.received.Load() != isCompressed {
			t.Errorf("of a compressed request (%v), the request was (%v) and the reply was (%v)", isCompressed, seen.sent.Load(), seen.received.Load())
		}
	}
}
