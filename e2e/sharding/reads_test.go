package sharding_test

import (
	"fmt"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// batchGet names two albums, which are in one place, and two that do not exist, in others.
func batchGet(t *testing.T, p *process, about material) error {
	reply, err := p.album.BatchGetAlbums(t.Context(), &albumv1.BatchGetAlbumsRequest{
		AlbumIds: []int64{about.album + 1, about.album, about.album + 2, about.recommendedAlbum},
	})
	if err == nil && (len(reply.GetAlbums()) != 2 || len(reply.GetMissingAlbumIds()) != 2) {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

func nearbyAlbums(t *testing.T, p *process, _ material) error {
	reply, err := p.album.SearchNearby(t.Context(), &albumv1.SearchNearbyRequest{
		Area: &albumv1.SearchNearbyRequest_Circle{Circle: &typev1.Circle{Center: taipei, RadiusMeters: 100}},
	})
	if err == nil && len(reply.GetAlbums()) == 0 {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

func recentAlbums(t *testing.T, p *process, _ material) error {
	reply, err := p.album.ListRecentAlbums(t.Context(), &albumv1.ListRecentAlbumsRequest{Category: 1})
	if err == nil && len(reply.GetAlbums()) == 0 {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}

func recentBlogs(t *testing.T, p *process, _ material) error {
	reply, err := p.blog.ListRecentBlogs(t.Context(), &blogv1.ListRecentBlogsRequest{})
	if err == nil && len(reply.GetBlogs()) == 0 {
		err = fmt.Errorf("got %v", reply)
	}
	return err
}
