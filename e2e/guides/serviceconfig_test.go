package guides_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/proto/descriptors"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	"google.golang.org/protobuf/reflect/protodesc"
)

const (
	retries = examples.Docs + "grpc/retries.json"
	hedging = examples.Docs + "grpc/hedging.json"
)

var update = flag.Bool("update", false, "write the service configs")

type method struct {
	Service string `json:"service"`
	Method  string `json:"method"`
}

// reads are the methods that the contracts declare to have no side effects.
func reads(t *testing.T) (found []method) {
	t.Helper()
	all, err := descriptors.Methods()
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range all {
		if each.GetOptions().GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
			service, name, _ := strings.Cut(strings.TrimPrefix(each.FullName, "/"), "/")
			found = append(found, method{service, name})
		}
	}
	return found
}

func TestTheServiceConfigsNameAllReads(t *testing.T) {
	t.Parallel()
	policies := map[string]map[string]any{
		retries: {"retryPolicy": map[string]any{
			"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "2s", "backoffMultiplier": 2, "retryableStatusCodes": []string{"UNAVAILABLE"},
		}},
		hedging: {"hedgingPolicy": map[string]any{
			"maxAttempts": 2, "hedgingDelay": "0.2s", "nonFatalStatusCodes": []string{"UNAVAILABLE"},
		}},
	}
	for path, config := range policies {
		config["name"] = reads(t)
		want, err := json.MarshalIndent(map[string]any{
			"loadBalancingConfig": []any{map[string]any{"round_robin": map[string]any{}}}, "methodConfig": []any{config},
			"retryThrottling": map[string]any{"maxTokens": 100, "tokenRatio": 0.1},
		}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if *update {
			write(t, path, want)
		}
		if found, err := os.ReadFile(path); err != nil || !bytes.Equal(found, want) {
			t.Errorf("%s is stale: run go test ./guides -run TheServiceConfigs -update, in e2e: %v", path, err)
		}
	}
}

// flaky is an album service that is unavailable for the first two attempts of each method.
type flaky struct {
	albumv1.UnimplementedAlbumServiceServer
	attempts map[string]*atomic.Int64
}

func (f flaky) intercept(_ any, stream grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(stream)
	if f.attempts[name].Add(1) <= 2 {
		return status.Error(codes.Unavailable, "not yet")
	}
	return stream.SendMsg(&albumv1.GetAlbumResponse{})
}

func TestARetriedReadSucceedsAndAWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int64{
		retries: 3,
		hedging: 1, // grpc-go has no hedging
	} {
		config, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := flaky{attempts: map[string]*atomic.Int64{albumv1.AlbumService_GetAlbum_FullMethodName: {}, albumv1.AlbumService_DeleteAlbum_FullMethodName: {}}}
		server := grpc.NewServer(grpc.UnknownServiceHandler(f.intercept))
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(server.Stop)
		connection, err := grpc.NewClient("passthrough:"+listener.Addr().String(),
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(string(config)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = connection.Close() })
		albums := albumv1.NewAlbumServiceClient(connection)
		_, err = albums.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: 1})
		if sent := f.attempts[albumv1.AlbumService_GetAlbum_FullMethodName].Load(); sent != want || (err == nil) != (want > 2) {
			t.Errorf("%s: the read was sent %d times, want %d: %v", path, sent, want, err)
		}
		_, err = albums.DeleteAlbum(t.Context(), &albumv1.DeleteAlbumRequest{ActorId: 1, AlbumId: 1})
		if sent := f.attempts[albumv1.AlbumService_DeleteAlbum_FullMethodName].Load(); sent != 1 || status.Code(err) != codes.Unavailable {
			t.Errorf("%s: the write was sent %d times: %v", path, sent, err)
		}
	}
}

// The set must resolve with nothing but itself.
func TestTheDescriptorSetIsSelfContained(t *testing.T) {
	t.Parallel()
	encoded, err := os.ReadFile(descriptorSet)
	if err != nil {
		t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(encoded, set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range reads(t) {
		if _, err := files.FindDescriptorByName(protoreflect.FullName(each.Service + "." + each.Method)); err != nil {
			t.Errorf("%s: %v", each.Method, err)
		}
	}
	var google []string
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if _, err := protoregistry.GlobalFiles.FindFileByPath(file.Path()); err == nil && strings.HasPrefix(file.Path(), "google/") {
			google = append(google, file.Path())
		}
		return true
	})
	if !slices.Contains(google, "google/protobuf/field_mask.proto") || len(encoded) > 500_000 {
		t.Errorf("%d bytes with %v", len(encoded), google)
	}
}
