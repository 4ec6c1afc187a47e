package sharding_test

import (
	"fmt"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
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
