//go:build linux

package rolling

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

const (
	// writers is the number of users who write. One alone would exceed the rate limit of a user.
	writers = 50
	// children is the number of photos and of comments of what is read.
	children = 10
)

// seed fills the stores of services, and returns their directories and requests that read and write
// them.
func seed(t *testing.T) (stores map[string]string, requests []request) {
	t.Helper()
	fleet := launch.NewFleet(t, binaries, launch.StoreEach).StartAll(1)
	reads, cookies := fill(t, fleet)
	stores = map[string]string{}
	for _, name := range launch.Services() {
		pod := fleet.Of(name)[0]
		if status := pod.End(syscall.SIGTERM); status != 0 {
			t.Fatalf("%s ended with status %d:\n%s", name, status, pod.Printed())
		}
		stores[name] = pod.Store
	}
	return stores, mixture(reads, cookies)
}

// fill creates content. It returns forms that read it, one for each service, and the cookies of
// users.
func fill(t *testing.T, f *launch.Fleet) (reads, cookies []string) {
	t.Helper()
	var dialed []*grpc.ClientConn
	defer func() {
		for _, connection := range dialed {
			_ = connection.Close()
		}
	}()
	dial := func(service string) *grpc.ClientConn {
		connection, err := grpc.NewClient(f.Of(service)[0].Address(), grpc.WithTransportCredentials(f.Certificates.Client("operator")))
		if err != nil {
			t.Fatal(err)
		}
		dialed = append(dialed, connection)
		return connection
	}
	ctx, place := t.Context(), &typev1.Location{Lat: 25, Lng: 121}
	c := clients.Of(dial("account"), dial("album"), dial("blog"), dial("poi"))
	var userID int64
	for range writers {
		user, err := c.Account.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "Mei"})
		if err != nil {
			t.Fatal(err)
		}
		userID = user.GetUser().GetUserId()
		session, err := c.Account.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: userID})
		if err != nil {
			t.Fatal(err)
		}
		cookies = append(cookies, fmt.Sprintf("id=%d; idrand=%s", userID, session.GetToken()))
	}
	album, albumErr := c.Album.CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
		OwnerId: userID, Title: "x", Category: 1, Location: place,
	})
	blog, blogErr := c.Blog.CreateBlog(ctx, &blogv1.CreateBlogRequest{
		AuthorId: userID, Type: 1, Location: place, Title: "x", Content: "x", Weather: 1, PostDate: &typev1.Date{Year: 2026, Month: 1, Day: 1},
	})
	poi, poiErr := c.Poi.CreatePoi(ctx, &poiv1.CreatePoiRequest{
		OwnerId: userID, Name: "x", Category: 1, Location: place,
	})
	if err := errors.Join(albumErr, blogErr, poiErr); err != nil {
		t.Fatal(err)
	}
	const url, text = "https://photos.example.com/1.jpg", "We took the first bus, and walked down again in the rain."
	for kind, id := range map[typev1.Kind]int64{
		typev1.Kind_KIND_ALBUM: album.GetAlbum().GetAlbumId(), typev1.Kind_KIND_BLOG: blog.GetBlog().GetBlogId(), typev1.Kind_KIND_POI: poi.GetPoi().GetPoiId(),
	} {
		for range children {
			_, err := c.Comment.AddComment(ctx, waybooktest.On(kind, id, &commentv1.AddCommentRequest{AuthorId: userID, Text: text}))
			if err == nil && kind != typev1.Kind_KIND_BLOG {
				_, err = c.Photo.AddPhoto(ctx, waybooktest.On(kind, id, &photov1.AddPhotoRequest{ActorId: userID, Url: url, Description: text}))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return []string{
		fmt.Sprintf("func=getAlbum&albumID=%d", album.GetAlbum().GetAlbumId()),
		fmt.Sprintf("func=getBlog&blogID=%d", blog.GetBlog().GetBlogId()),
		fmt.Sprintf("func=getPOI&POIID=%d", poi.GetPoi().GetPoiId()),
	}, cookies
}
