package rpc_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

func TestAStreamOfAlbumsStartsAfterAnIdentifierAndEndsAtALimit(t *testing.T) {
	// More than two batches.
	const count = 450
	w := start(t)
	owner, other := w.newUser("a"), w.newUser("b")
	ids := make([]int64, count)
	parallel(t, count, func(i int) error {
		if i%10 == 0 {
			w.newAlbum(other, "x") // between the owner's
		}
		r, err := w.album.CreateAlbum(t.Context(), &albumv1.CreateAlbumRequest{OwnerId: owner, Title: fmt.Sprint(i), Category: 1, Location: taipei})
		ids[i] = r.GetAlbum().GetAlbumId()
		return err
	})
	slices.Sort(ids)
	stream := func(after, limit int64) []int64 {
		t.Helper()
		batches, err := collect(w.album.StreamAlbums(t.Context(), &albumv1.StreamAlbumsRequest{OwnerId: owner, AfterAlbumId: after, Limit: limit}))
		var sent []int64
		for _, batch := range got(t, batches, err) {
			sent = append(sent, idsOf(batch.GetAlbums(), (*albumv1.AlbumSummary).GetAlbumId)...)
		}
		return sent
	}
	starts := map[int64]int{0: 0, ids[0] - 1: 0, ids[0]: 1, ids[count/2]: count/2 + 1, ids[count-2]: count - 1, ids[count-1]: count, tooHigh - 1: count}
	for after, first := range starts {
		for _, limit := range []int64{0, 1, 2, 199, 200, 201, 400, count, count + 1, math.MaxInt64} {
			want := ids[first:]
			if limit > 0 && limit < int64(len(want)) {
				want = want[:limit]
			}
			if sent := stream(after, limit); !slices.Equal(sent, want) {
				t.Errorf("after the first %d, up to %d: %d albums, want %d", first, limit, len(sent), len(want))
			}
		}
	}
	expectFault(t, failed(collect(w.album.StreamAlbums(t.Context(), &albumv1.StreamAlbumsRequest{OwnerId: 1, AfterAlbumId: 1, Limit: 1}))),
		codes.NotFound, "USER_NOT_FOUND")
}
