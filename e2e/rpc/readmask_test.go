package rpc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

func TestAReadMaskReturnsThePartsThatItNames(t *testing.T) {
	t.Parallel()
	w, ctx := start(t), t.Context()
	owner := w.newUser("a")
	album, blog, poi := w.newAlbum(owner, "x"), w.newBlog(owner), w.newPoi(owner, "x")
	must(w.Photo.AddPhoto(ctx, &photov1.AddPhotoRequest{ActorId: owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: album}, Url: "x"}))(t)
	must(w.Comment.AddComment(ctx, &commentv1.AddCommentRequest{AuthorId: owner, Parent: &commentv1.AddCommentRequest_BlogId{BlogId: blog}, Text: "y"}))(t)
	whole := w.getAlbum(album)

	reply, err := w.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album, ReadMask: mask("photos", "album.title", "album.owner.name")})
	want := &albumv1.GetAlbumResponse{Photos: whole.GetPhotos(), Album: &albumv1.Album{Title: "x"}}
	want.Album.Owner = whole.GetAlbum().GetOwner()
	want.Album.Owner.UserId, want.Album.Owner.IconUrl = 0, ""
	if diff := cmp.Diff(want, got(t, reply, err), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	entry := must(w.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: blog, ReadMask: mask("comments")}))(t)
	if e := entry; e.GetBlog() != nil || len(e.GetComments()) != 1 || e.GetComments()[0].GetAuthor().GetName() != "a" {
		t.Errorf("got %v", e)
	}
	landmark := must(w.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: poi, ReadMask: mask("*")}))(t)
	if p := landmark.GetPoi(); p.GetName() != "x" || p.GetOwner().GetName() != "a" {
		t.Errorf("got %v", p)
	}
	for name, err := range map[string]error{
		"GetAlbum":    failed(w.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album, ReadMask: mask("photo")})),
		"GetBlog":     failed(w.Blog.GetBlog(ctx, &blogv1.GetBlogRequest{BlogId: blog, ReadMask: mask("photos")})),
		"GetPoi":      failed(w.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: poi, ReadMask: mask("comments.text")})),
		"all and one": failed(w.Poi.GetPoi(ctx, &poiv1.GetPoiRequest{PoiId: poi, ReadMask: mask("*", "photos")})),
	} {
		t.Run(name, func(t *testing.T) { expectFault(t, err, codes.InvalidArgument, "INVALID_PARAMETER", "read_mask") })
	}
	gone := failed(w.Album.GetAlbum(ctx, &albumv1.GetAlbumRequest{AlbumId: album + 1, ReadMask: mask("photos")}))
	expectFault(t, gone, codes.NotFound, "ALBUM_NOT_FOUND")
}
