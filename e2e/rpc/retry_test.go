package rpc_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/process"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	recommendationv1 "github.com/waybook/waybook/proto/gen/waybook/recommendation/v1"
)

// The first attempt of an update may have happened, and another update after it.
func TestAnUpdateIsNotRetriedAndOtherCallsAre(t *testing.T) {
	t.Parallel()
	listener := must(process.Listen(t.Context(), "grpc", "127.0.0.1:0"))(t)
	var attempts atomic.Int64
	server := grpc.NewServer(grpc.UnaryInterceptor(
		func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
			attempts.Add(1)
			return nil, status.Error(codes.Unavailable, "the reply of the store was lost")
		}))
	albumv1.RegisterAlbumServiceServer(server, albumv1.UnimplementedAlbumServiceServer{})
	poiv1.RegisterPoiServiceServer(server, poiv1.UnimplementedPoiServiceServer{})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	connection := must(process.Transport{}.Dial("album", listener.Addr().String()))(t)
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	albums, pois := albumv1.NewAlbumServiceClient(connection), poiv1.NewPoiServiceClient(connection)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, c := range map[string]struct {
		call     func() error
		attempts int64
	}{
		"UpdateAlbum":    {func() error { _, err := albums.UpdateAlbum(ctx, &albumv1.UpdateAlbumRequest{}); return err }, 1},
		"UpdatePhoto":    {func() error { _, err := albums.UpdatePhoto(ctx, &photov1.UpdatePhotoRequest{}); return err }, 1},
		"UpdatePoi":      {func() error { _, err := pois.UpdatePoi(ctx, &poiv1.UpdatePoiRequest{}); return err }, 1},
		"ReplyToComment": {func() error { _, err := albums.ReplyToComment(ctx, &commentv1.ReplyToCommentRequest{}); return err }, 1},
		"Recommend":      {func() error { _, err := albums.Recommend(ctx, &recommendationv1.RecommendRequest{}); return err }, 1},
		"WithdrawRecommendation": {func() error {
			_, err := pois.WithdrawRecommendation(ctx, &recommendationv1.WithdrawRequest{})
			return err
		}, 1},
		"RemovePhoto": {func() error { _, err := albums.RemovePhoto(ctx, &photov1.RemovePhotoRequest{}); return err }, 4},
		"CreateAlbum": {func() error { _, err := albums.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{}); return err }, 4},
		"GetAlbum":    {func() error { _, err := albums.GetAlbum(ctx, &albumv1.GetAlbumRequest{}); return err }, 4},
	} {
		attempts.Store(0)
		if err := c.call(); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		if n := attempts.Load(); n != c.attempts {
			t.Errorf("%s was tried %d times, want %d", name, n, c.attempts)
		}
	}
}
