package sharding_test

import (
	"fmt"
	"testing"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

func commentsByAuthor(t *testing.T, p *replica, about material) error {
	_, err := p.Comment.ListCommentsByAuthor(t.Context(), &commentv1.ListCommentsByAuthorRequest{
		AuthorId: about.visitor.id, Kind: typev1.Kind_KIND_ALBUM,
	})
	return err
}

// removeCommentsByAuthor finds none: a removal is that of removeComment, and several are removed at the same time.
func removeCommentsByAuthor(t *testing.T, p *replica, about material) error {
	_, err := p.Comment.RemoveCommentsByAuthor(t.Context(), &commentv1.RemoveCommentsByAuthorRequest{
		AuthorId: about.owner.id, On: &commentv1.RemoveCommentsByAuthorRequest_Kind{Kind: typev1.Kind_KIND_ALBUM},
	})
	return err
}

// batchGet names two albums, which are in one place, and two that do not exist, in others.
func batchGet(t *testing.T, p *replica, about material) error {
	reply, err := p.Album.BatchGetAlbums(t.Context(), &albumv1.BatchGetAlbumsRequest{
		AlbumIds: []int64{about.album + 1, about.album, about.album + 2, about.recommendedAlbum},
	})
	if err == nil && (len(reply.GetAlbums()) != 2 || len(reply.GetMissingAlbumIds()) != 2) {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

func nearbyAlbums(t *testing.T, p *replica, _ material) error {
	reply, err := p.Album.SearchNearby(t.Context(), &albumv1.SearchNearbyRequest{
		Circle: &typev1.Circle{Center: taipei, RadiusMeters: 100},
	})
	if err == nil && len(reply.GetAlbums()) == 0 {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

func recentAlbums(t *testing.T, p *replica, _ material) error {
	reply, err := p.Album.ListAlbums(t.Context(), &albumv1.ListAlbumsRequest{Category: 1, Order: typev1.ListOrder_LIST_ORDER_NEWEST_FIRST})
	if err == nil && len(reply.GetAlbums()) == 0 {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

func recentBlogs(t *testing.T, p *replica, _ material) error {
	reply, err := p.Blog.ListBlogs(t.Context(), &blogv1.ListBlogsRequest{Order: blogv1.BlogOrder_BLOG_ORDER_RECENT})
	if err == nil && len(reply.GetBlogs()) == 0 {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

// getAlbumOf, getBlogOf and getPoiOf read a part of the content with photos and comments.
func getAlbumOf(path string) func(*testing.T, *replica, material) error {
	return func(t *testing.T, p *replica, about material) error {
		_, err := p.Album.GetAlbum(t.Context(), &albumv1.GetAlbumRequest{AlbumId: about.album, ReadMask: &fieldmaskpb.FieldMask{Paths: []string{path}}})
		return err
	}
}

func getBlogOf(path string) func(*testing.T, *replica, material) error {
	return func(t *testing.T, p *replica, about material) error {
		_, err := p.Blog.GetBlog(t.Context(), &blogv1.GetBlogRequest{BlogId: about.blog, ReadMask: &fieldmaskpb.FieldMask{Paths: []string{path}}})
		return err
	}
}

func getPoiOf(path string) func(*testing.T, *replica, material) error {
	return func(t *testing.T, p *replica, about material) error {
		_, err := p.Poi.GetPoi(t.Context(), &poiv1.GetPoiRequest{PoiId: about.poi, ReadMask: &fieldmaskpb.FieldMask{Paths: []string{path}}})
		return err
	}
}
