package rpc_test

import (
	"fmt"
	"testing"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
)

// BenchmarkMoveInAlbums moves in requests of 200 albums, each with 5 photos and 10 comments, into an
// embedded store.
func BenchmarkMoveInAlbums(b *testing.B) {
	const albums, photos, comments = 200, 5, 10
	w := start(b)
	var users []int64
	for n := range 100 {
		users = append(users, w.newUser(fmt.Sprint("user ", n)))
	}
	next := 1
	for b.Loop() {
		request := &albumv1.MoveInAlbumsRequest{}
		for range albums {
			moved := movedAlbum(fmt.Sprint(next), users[next%len(users)])
			for i := range photos {
				moved.Photos = append(moved.Photos, &albumv1.MovedPhoto{OldId: fmt.Sprint(next*photos + i), ThumbnailUrl: "old.jpg", Description: "描述"})
			}
			moved.Comments = movedComments(next*comments, comments, users[0])
			request.Albums = append(request.Albums, moved)
			next++
		}
		for _, result := range must(w.Album.MoveInAlbums(b.Context(), request))(b).GetResults() {
			if result.GetOutcome() != created {
				b.Fatalf("got %v", result)
			}
		}
	}
	b.ReportMetric(float64(next-1)/b.Elapsed().Seconds(), "albums/s")
}
