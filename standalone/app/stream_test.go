package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/apierror"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/internal/waybooktest"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	"github.com/waybook/waybook/standalone/app"
)

// weigher replies to an upload with its size, and to a download with chunks without an end.
type weigher struct {
	photov1.UnimplementedPhotoServiceServer
}

func (weigher) Upload(stream grpc.ClientStreamingServer[photov1.UploadRequest, photov1.UploadResponse]) error {
	size := int64(0)
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&photov1.UploadResponse{Photo: &photov1.Photo{File: &photov1.PhotoFile{SizeBytes: size}}})
		}
		if err != nil {
			return err
		}
		if size += int64(len(part.GetChunk())); size > 100 {
			return apierror.NotFound("TOO_HEAVY", "it is too heavy")
		}
	}
}

func (weigher) Download(_ *photov1.DownloadRequest, stream grpc.ServerStreamingServer[photov1.DownloadResponse]) error {
	for {
		if err := stream.Send(&photov1.DownloadResponse{Part: &photov1.DownloadResponse_Chunk{Chunk: []byte{1}}}); err != nil {
			return err
		}
	}
}

// newClient returns a client over a channel. The test ends when the handlers of all streams have ended.
func newClient(t *testing.T) photov1.PhotoServiceClient {
	t.Helper()
	interceptors := service.NewInterceptors(service.Load{}, nil, process.NewMetrics(), slog.New(slog.DiscardHandler))
	channel, env := app.NewChannel(interceptors, tracing.Tracing{}), process.Env{Stack: &process.Stack{}}
	photov1.RegisterPhotoServiceServer(channel, weigher{})
	waybooktest.OK(t, channel.ServeStreams(env))
	t.Cleanup(func() { waybooktest.OK(t, env.Stack.Stop(context.WithoutCancel(t.Context()))) })
	return photov1.NewPhotoServiceClient(channel)
}

func upload(t *testing.T, client photov1.PhotoServiceClient, chunks, size int) (*photov1.UploadResponse, error) {
	t.Helper()
	stream, err := client.Upload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range chunks {
		if err := stream.Send(&photov1.UploadRequest{Part: &photov1.UploadRequest_Chunk{Chunk: make([]byte, size)}}); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
	}
	return stream.CloseAndRecv()
}

func TestAStreamInProcessEndsWithTheReplyOrTheError(t *testing.T) {
	client := newClient(t)
	if reply, err := upload(t, client, 10, 10); err != nil || reply.GetPhoto().GetFile().GetSizeBytes() != 100 {
		t.Errorf("got %v, %v", reply, err)
	}
	if reply, err := upload(t, client, 1000, 60); status.Code(err) != codes.NotFound {
		t.Errorf("got %v, %v", reply, err)
	}
	if reply, err := upload(t, client, 1, 300<<10); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a chunk that breaks the contract: got %v, %v", reply, err)
	}
}

func TestAStreamInProcessEndsWithItsCaller(t *testing.T) {
	client := newClient(t)
	ctx, leave := context.WithCancel(t.Context())
	stream, err := client.Download(ctx, &photov1.DownloadRequest{
		Parent: &photov1.DownloadRequest_AlbumId{AlbumId: 1 << 50}, PhotoId: 1 << 50, Size: photov1.PhotoSize_PHOTO_SIZE_VIEW,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if part, err := stream.Recv(); err != nil || len(part.GetChunk()) != 1 {
			t.Fatalf("got %v, %v", part, err)
		}
	}
	leave()
}
