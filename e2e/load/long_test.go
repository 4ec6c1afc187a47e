package load

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// The process that attacks finds in these variables what to read.
const (
	longAlbumVariable = "OVERLOAD_ALBUM"
	longEntryVariable = "OVERLOAD_ENTRY"
	longFileVariable  = "OVERLOAD_FILE"
)

var (
	longAlbumQuery = "func=getAlbum&albumID=" + os.Getenv(longAlbumVariable)
	longEntryQuery = "func=getBlog&blogID=" + os.Getenv(longEntryVariable)
	longFilePath   = "/console/assets/" + os.Getenv(longFileVariable)
)

// findLongFile finds the longest file of the console.
func findLongFile(t *testing.T) {
	t.Helper()
	files, err := os.ReadDir("../../console/dist/assets")
	if err != nil {
		t.Fatal(err)
	}
	longest, size := "", int64(0)
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			longest, size = file.Name(), info.Size()
		}
	}
	t.Setenv(longFileVariable, longest)
}

// createLongContent creates an album with a megabyte of photos and a megabyte of comments, and an
// entry of 400 kB, the longest that there is.
func createLongContent(t *testing.T, services map[string]*launch.Process) {
	t.Helper()
	const flower, each = "🌸", 130
	owner := launch.CreateUser(t, launch.Dial(t, services["account"].GRPC), "作者")
	connection := launch.Dial(t, services["album"].GRPC)
	album := launch.CreateAlbumsOf(t, connection, owner, "相簿", 1)[0]
	photos, comments := photov1.NewPhotoServiceClient(connection), commentv1.NewCommentServiceClient(connection)
	text := strings.Repeat(flower, 2000)
	for range each {
		_, photoErr := photos.AddPhoto(t.Context(), &photov1.AddPhotoRequest{
			ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "t.jpg", Description: text,
		})
		_, commentErr := comments.AddComment(t.Context(), &commentv1.AddCommentRequest{
			AuthorId: owner, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: album}, Text: text,
		})
		if err := errors.Join(photoErr, commentErr); err != nil {
			t.Fatal(err)
		}
	}
	entry, err := blogv1.NewBlogServiceClient(launch.Dial(t, services["blog"].GRPC)).CreateBlog(t.Context(), &blogv1.CreateBlogRequest{
		AuthorId: owner, Type: 1, Title: "日記", Content: strings.Repeat(flower, 100_000), Weather: 1,
		Location: &typev1.Location{Lat: 25, Lng: 121}, PostDate: &typev1.Date{Year: 2026, Month: 1, Day: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(longAlbumVariable, fmt.Sprint(album))
	t.Setenv(longEntryVariable, fmt.Sprint(entry.GetBlog().GetBlogId()))
}
