package rpc_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/clients"
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
	commentv1.RegisterCommentServiceServer(server, commentv1.UnimplementedCommentServiceServer{})
	photov1.RegisterPhotoServiceServer(server, photov1.UnimplementedPhotoServiceServer{})
	recommendationv1.RegisterRecommendationServiceServer(server, recommendationv1.UnimplementedRecommendationServiceServer{})
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
	all := clients.Of(connection, connection, connection, connection)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, c := range map[string]struct {
		call     func(context.Context) error
		attempts int64
	}{
		"UpdateAlbum":    {calling(all.Album.UpdateAlbum, &albumv1.UpdateAlbumRequest{}), 1},
		"UpdatePoi":      {calling(all.Poi.UpdatePoi, &poiv1.UpdatePoiRequest{}), 1},
		"UpdatePhoto":    {calling(all.Photo.UpdatePhoto, &photov1.UpdatePhotoRequest{Parent: &photov1.UpdatePhotoRequest_PoiId{PoiId: 1}}), 1},
		"RemovePhoto":    {calling(all.Photo.RemovePhoto, &photov1.RemovePhotoRequest{Parent: &photov1.RemovePhotoRequest_PoiId{PoiId: 1}}), 4},
		"ReplyToComment": {calling(all.Comment.ReplyToComment, &commentv1.ReplyToCommentRequest{Parent: &commentv1.ReplyToCommentRequest_BlogId{BlogId: 1}}), 1},
		"Recommend":      {calling(all.Recommendation.Recommend, &recommendationv1.RecommendRequest{Parent: &recommendationv1.RecommendRequest_BlogId{BlogId: 1}}), 1},
		"Withdraw":       {calling(all.Recommendation.Withdraw, &recommendationv1.WithdrawRequest{Parent: &recommendationv1.WithdrawRequest_BlogId{BlogId: 1}}), 1},
		"CreateAlbum":    {calling(all.Album.CreateAlbum, &albumv1.CreateAlbumRequest{}), 4},
		"GetAlbum":       {calling(all.Album.GetAlbum, &albumv1.GetAlbumRequest{}), 4},
	} {
		attempts.Store(0)
		if err := c.call(ctx); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		if n := attempts.Load(); n != c.attempts {
			t.Errorf("%s was tried %d times, want %d", name, n, c.attempts)
		}
	}
}
