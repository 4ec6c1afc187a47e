package launch

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// writers is the number of concurrent creates, which share commits.
const writers = 256

// Dial connects to a gRPC port until the test ends.
func Dial(t testing.TB, address string) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	})
	return connection
}

// CreateUser creates a user and returns the id.
func CreateUser(t testing.TB, connection grpc.ClientConnInterface, name string) int64 {
	t.Helper()
	created, err := accountv1.NewAccountServiceClient(connection).
		CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return created.GetUser().GetUserId()
}

// CreatePois creates landmarks of one category and name and returns their ids.
func CreatePois(t testing.TB, connection grpc.ClientConnInterface, category poiv1.PoiCategory, name string, count int) []int64 {
	t.Helper()
	return CreatePoisOf(t, connection, CreateUser(t, connection, "地主"), category, name, count)
}

// CreatePoisOf creates landmarks of an owner and returns their ids.
func CreatePoisOf(
	t testing.TB, connection grpc.ClientConnInterface, owner int64, category poiv1.PoiCategory, name string, count int,
) []int64 {
	t.Helper()
	pois := poiv1.NewPoiServiceClient(connection)
	return createAll(t, count, func(ctx context.Context) (int64, error) {
		created, err := pois.CreatePoi(ctx, &poiv1.CreatePoiRequest{OwnerId: owner, Name: name, Category: category, Location: taipei()})
		return created.GetPoi().GetPoiId(), err
	})
}

// CreateAlbums creates albums of a new owner and returns their ids.
func CreateAlbums(t testing.TB, connection grpc.ClientConnInterface, title string, count int) []int64 {
	t.Helper()
	return CreateAlbumsOf(t, connection, CreateUser(t, connection, "小旅人"), title, count)
}

// CreateAlbumsOf creates albums of an owner and returns their ids.
func CreateAlbumsOf(t testing.TB, connection grpc.ClientConnInterface, owner int64, title string, count int) []int64 {
	t.Helper()
	albums := albumv1.NewAlbumServiceClient(connection)
	return createAll(t, count, func(ctx context.Context) (int64, error) {
		created, err := albums.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{OwnerId: owner, Title: title, Category: 1, Location: taipei()})
		return created.GetAlbum().GetAlbumId(), err
	})
}

func taipei() *typev1.Location { return &typev1.Location{Lat: 25.034, Lng: 121.5645} }

// createAll calls create count times, with many calls in flight, and returns the ids.
func createAll(t testing.TB, count int, create func(context.Context) (int64, error)) []int64 {
	t.Helper()
	ids := make([]int64, count)
	var next atomic.Int64
	var group sync.WaitGroup
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for range writers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(count) && ctx.Err() == nil; i = next.Add(1) - 1 {
				var err error
				if ids[i], err = create(ctx); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		t.Fatal(err)
	}
	return ids
}
