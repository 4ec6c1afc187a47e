package load

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// TestNoReplyHasATextOfAnother reads many albums and a list at the same time, from the edge and by gRPC. The memory
// of a reply is used again for the next one, so a reply that is read too late would show here.
func TestNoReplyHasATextOfAnother(t *testing.T) {
	const readers, albums = 16, 12
	reads := longform.Number(60, 150)
	d := startAlone(t)
	requests := []*albumv1.GetAlbumRequest{}
	for n := range int64(albums) {
		id := number(t, d.made(strings.Replace(addAlbum, "台北101", fmt.Sprintf("第%d冊", n), 1), "albumID"))
		requests = append(requests, &albumv1.GetAlbumRequest{AlbumId: id})
		// The replies have different lengths, so that their texts lie at different places.
		for c := range 5 + 7*n {
			text := strings.Repeat(fmt.Sprintf("第%d冊，第%d張。", n, c), int(1+c%5))
			_, err := d.Photo.AddPhoto(t.Context(), &photov1.AddPhotoRequest{
				ActorId: d.owner, Parent: &photov1.AddPhotoRequest_AlbumId{AlbumId: id}, Url: fmt.Sprintf("upload/%d/%d.jpg", n, c), Description: text,
			})
			waybooktest.OK(d.t, err)
			_, err = d.Comment.AddComment(t.Context(), &commentv1.AddCommentRequest{
				AuthorId: d.owner, Parent: &commentv1.AddCommentRequest_AlbumId{AlbumId: id}, Text: text,
			})
			waybooktest.OK(d.t, err)
		}
	}
	// read reads album n in one of the ways; the list for all numbers above.
	read := func(n, way int) (string, error) {
		form := "func=getCategoryPOIList&category=" + fmt.Sprint(int(category))
		if n < albums {
			form = fmt.Sprintf("func=getAlbum&albumID=%d", requests[n].GetAlbumId())
		}
		switch {
		case way == 0:
			reply, err := d.client.Try(d.client.Form(http.MethodGet, form))
			return reply.Body, err
		case n < albums:
			reply, err := d.Album.GetAlbum(t.Context(), requests[n])
			if err != nil {
				return "", err
			}
			encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(reply)
			return string(encoded), err
		}
		var all strings.Builder
		for request := (&poiv1.ListPoisRequest{Category: category, View: typev1.View_VIEW_SUMMARY, PageSize: 200}); ; {
			page, err := d.Poi.ListPois(t.Context(), request)
			if err != nil {
				return "", err
			}
			for _, poi := range page.GetSummaries() {
				fmt.Fprintln(&all, poi.GetId(), poi.GetTitle())
			}
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				return all.String(), nil
			}
		}
	}
	want := map[[2]int]string{}
	for n := range albums + 1 {
		for way := range 2 {
			reply, err := read(n, way)
			waybooktest.OK(d.t, err)
			text, times := fmt.Sprintf("第%d冊，第", n), 2*(5+7*n)
			if n == albums {
				text, times = "太魯閣國家公園遊客中心", listedPois
			}
			if strings.Count(reply, text) < times {
				t.Fatalf("album %d lacks texts: %.2000s", n, reply)
			}
			want[[2]int{n, way}] = reply
		}
	}
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			for range reads {
				n, way := rand.IntN(albums+1), rand.IntN(2)
				if got, err := read(n, way); err != nil || got != want[[2]int{n, way}] {
					t.Errorf("album %d, way %d: %v, %.2000s", n, way, err, got)
					return
				}
			}
		})
	}
	all.Wait()
}
