package edge

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
)

func TestPhotosAndCommentsFollowPageTokens(t *testing.T) {
	f := &fakes{answer: func(_ context.Context, request proto.Message) (proto.Message, error) {
		switch r := request.(type) {
		case *photov1.ListPhotosRequest:
			if r.GetAlbumId() != 12 || r.GetPageSize() != 1000 { // the most that the contracts allow
				return nil, fmt.Errorf("unexpected request %v", r)
			}
			next := map[string]string{"p1": "p2", "p2": ""}[r.GetPageToken()]
			return &photov1.ListPhotosResponse{Photos: []*photov1.Photo{{PhotoId: 2}}, NextPageToken: next}, nil
		case *commentv1.ListCommentsRequest:
			return &commentv1.ListCommentsResponse{Comments: []*commentv1.Comment{{Text: "b"}}}, nil
		}
		return &albumv1.GetAlbumResponse{
			Album:  &albumv1.Album{AlbumId: 12},
			Photos: []*photov1.Photo{{PhotoId: 1}}, NextPhotosToken: "p1",
			Comments: []*commentv1.Comment{{Text: "a"}}, NextCommentsToken: "c1",
		}, nil
	}}
	var w *httptest.ResponseRecorder
	synctest.Test(t, func(t *testing.T) { // a reply that takes longer than 10 ms has no length
		w = get(newEdge(t, f), "func=getAlbum&albumID=12")
	})
	body := w.Body.String()
	for _, element := range []string{"<photo1>", "<photo2>", "</photo3></photos><comments><comment1>", "</comment2></comments></response>"} {
		if !strings.Contains(body, element) {
			t.Errorf("no %s in %s", element, body)
		}
	}
	if w.Header().Get("Content-Length") == "" {
		t.Error("a short reply of several pages has no length")
	}
}

func TestAnAlbumDeletedBetweenTwoPagesIsNotFound(t *testing.T) {
	f := &fakes{answer: func(_ context.Context, request proto.Message) (proto.Message, error) {
		if _, first := request.(*albumv1.GetAlbumRequest); !first {
			return nil, refusedFor(codes.NotFound, "ALBUM_NOT_FOUND")
		}
		return &albumv1.GetAlbumResponse{Album: &albumv1.Album{AlbumId: 12}, NextPhotosToken: "p1"}, nil
	}}
	if got := get(newEdge(t, f), "func=getAlbum&albumID=12").Body.String(); got != failed("ALBUM NOT FOUND") {
		t.Errorf("got %s", got)
	}
}

// suddenEnd is a photo service whose second page of photos ends in a panic of its client.
type suddenEnd struct{ photov1.PhotoServiceClient }

func (suddenEnd) ListPhotos(context.Context, *photov1.ListPhotosRequest, ...grpc.CallOption) (*photov1.ListPhotosResponse, error) {
	panic("boom")
}

func TestAPanicDuringAWaitEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &albumv1.GetAlbumResponse{Album: &albumv1.Album{AlbumId: 12}, NextPhotosToken: "p1"}
		h := newEdge(t, &fakes{answer: always(first, nil)}, func(c *Config) { c.Photo = suddenEnd{c.Photo} })
		w := get(h, "func=getAlbum&albumID=12")
		time.Sleep(2 * patience) // when nothing may be sent for this request any more
		if got := w.Body.String(); got != failed("INTERNAL ERROR") {
			t.Errorf("got %s", got)
		}
	})
}
