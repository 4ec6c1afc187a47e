package edge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/admission"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
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

// boxOf has landmarks with the ids from 1 to count. Its pages have at most size landmarks; a page
// of an odd number of calls is empty.
func boxOf(count, size int) func(context.Context, proto.Message) (proto.Message, error) {
	calls := 0
	return func(_ context.Context, request proto.Message) (proto.Message, error) {
		r := request.(*poiv1.ListPoisRequest)
		after := 0
		if _, err := fmt.Sscan("0"+strings.TrimPrefix(r.GetPageToken(), "t"), &after); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
		page := &poiv1.ListPoisResponse{}
		calls++
		for id := after + 1; id <= min(count, after+min(size, int(r.GetPageSize()))) && calls%2 == 0; id++ {
			page.Summaries = append(page.Summaries, &typev1.Summary{Id: int64(id), Title: "n", Category: 2, Location: &typev1.Location{Lat: 1, Lng: 2}})
		}
		if after += len(page.Summaries); after < count {
			page.NextPageToken = fmt.Sprint("t", after)
		}
		return page, nil
	}
}

func TestPagesOfAServiceAreOneListUpToTheLimit(t *testing.T) {
	list := func(next string, from, to int) string {
		var items strings.Builder
		for id := from; id <= to; id++ {
			fmt.Fprintf(&items, "<POI%d><POIID>%d</POIID><name>n</name><category>2</category><Location><lat>1</lat><lng>2</lng></Location></POI%[1]d>", id-from+1, id)
		}
		return xmlBody("<status>SUCCESS</status><POIList>" + items.String() + "</POIList>" + next)
	}
	for size := 1; size <= 6; size++ {
		f := &fakes{}
		h := newEdge(t, f)
		for parameters, want := range map[string]string{
			"":                  list("", 1, 5),
			"&limit=2":          list("<next>t2</next>", 1, 2),
			"&limit=2&after=t2": list("<next>t4</next>", 3, 4),
			"&limit=2&after=t4": list("", 5, 5),
			"&limit=5":          list("", 1, 5),
			"&limit=1000000":    list("", 1, 5),
			"&after=t5":         list("", 1, 0),
		} {
			f.answer = boxOf(5, size)
			if w := get(h, "func=getNearbyPOIList&latMin=0&latMax=1&lngMin=2&lngMax=3"+parameters); w.Body.String() != want {
				t.Errorf("pages of %d, %q: got %s\nwant %s", size, parameters, w.Body, want)
			}
		}
		for _, r := range f.called() {
			if n := r.(*poiv1.ListPoisRequest).GetPageSize(); n < 1 || n > 1000 {
				t.Errorf("a page of %d was asked for", n)
			}
		}
	}
}

// A search that reads much for a small reply counts as the requests that read as much.
func TestWhatASearchReadsCountsAgainstTheRateOfItsClient(t *testing.T) {
	for read, want := range map[int32]int{0: 5, readsPerRequest - 1: 5, readsPerRequest: 3, 8 * readsPerRequest: 1} {
		f := &fakes{answer: always(&poiv1.ListPoisResponse{ReadCount: read}, nil)}
		stopped := func() time.Time { return time.Unix(1, 0) }
		h := newEdge(t, f, func(c *Config) { c.Load.Clients = admission.NewRate(1, 5*time.Second, stopped) })
		done := 0
		for range 10 {
			if w := get(h, "func=getNearbyPOIList&latMin=0&latMax=1&lngMin=2&lngMax=3&limit=1"); w.Code == 200 {
				done++
			}
		}
		if done != want {
			t.Errorf("%d entries read: %d requests were served, want %d", read, done, want)
		}
	}
}

// An old number that is not told by the new one is large, and could be an identifier of Waybook.
func TestTheNextPartOfAListWithOldIdentifiersBeginsWhereThisOneEnds(t *testing.T) {
	for oldID, want := range map[string]string{"1700000000000": "99", "IMG_1": "IMG_1", "007": "99", "12345678901234567890": "12345678901234567890"} {
		h := newEdge(t, &fakes{albums: func(context.Context, *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
			return &albumv1.ListAlbumsResponse{Summaries: []*typev1.Summary{{Id: 99, OldId: oldID}, {Id: 100}}}, nil
		}}, func(c *Config) { c.Identifiers = OldIdentifiers })
		w := get(h, "func=getUserAlbumList&userID=7&limit=1")
		if !strings.Contains(w.Body.String(), "<albumID>"+oldID+"</albumID>") || !strings.Contains(w.Body.String(), "<next>"+want+"</next>") {
			t.Errorf("%s: %s", oldID, w.Body)
		}
	}
}

func TestALongPartIsStreamedAndEndsAtItsLimit(t *testing.T) {
	// This service ignores the page size: the edge enforces the limit.
	server, stopped := endless(t)
	for format, end := range map[string]string{
		"XML":  "</POI19750></POIList><next>19750</next></response>",
		"JSON": `}],"next":19750}`,
	} {
		response := fetch(t, http.MethodGet, server.URL+listPois+"&limit=19750&responseFormat="+format)
		body := readAll(t, response.Body)
		if response.ContentLength != -1 || !strings.HasSuffix(body, end) || strings.Count(body, "landmark &") != 19750 {
			t.Errorf("%s: length %d, end %q", format, response.ContentLength, body[len(body)-100:])
		}
		checkDocument(t, format, body)
		if asked := <-stopped; asked != 40 {
			t.Errorf("%s: the edge asked for %d pages", format, asked)
		}
	}
}

func TestAPartFailsWhenTheServiceFails(t *testing.T) {
	server := serve(t, &fakes{pois: failing(1, status.Error(codes.Unavailable, "gone"))})
	response := fetch(t, http.MethodGet, server.URL+listPois+"&limit=600")
	if body := readAll(t, response.Body); response.StatusCode != 503 || body != failed("SERVICE UNAVAILABLE") {
		t.Errorf("got %d %s", response.StatusCode, body)
	}
}

func TestACallEndsWhenTheClientLeaves(t *testing.T) {
	for _, query := range []string{"func=getAlbum&albumID=1", "func=getCategoryPOIList&category=1"} {
		t.Run(query, func(t *testing.T) {
			begun, ended := make(chan struct{}), make(chan error, 1)
			wait := func(ctx context.Context) error {
				close(begun)
				<-ctx.Done()
				ended <- ctx.Err()
				return ctx.Err()
			}
			server := httptest.NewServer(newEdge(t, &fakes{
				answer: func(ctx context.Context, _ proto.Message) (proto.Message, error) { return nil, wait(ctx) },
				pois: func(ctx context.Context, _ *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
					return nil, wait(ctx)
				},
			}))
			defer server.Close()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+Path+"?"+query, nil)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				<-begun
				leave()
			}()
			response, err := server.Client().Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			select {
			case err := <-ended:
				if err != context.Canceled {
					t.Errorf("the call ended with %v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("the call continues")
			}
		})
	}
}

// A server cannot tell it from a client that has left.
func TestAClientThatClosesItsSendingSideCountsAsGone(t *testing.T) {
	begun := make(chan struct{})
	server := serve(t, &fakes{answer: func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "GET %s?func=getAlbum&albumID=1 HTTP/1.1\r\nHost: x\r\n\r\n", Path)
	<-begun
	if err := connection.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if reply, err := io.ReadAll(connection); len(reply) > 0 || err != nil {
		t.Errorf("got %q, %v", reply, err)
	}
}
