package edge

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

type albumStream = grpc.ServerStreamingServer[albumv1.StreamAlbumsResponse]

// sendAlbums follows the contract for a user with albums 10, 20 … 50, in batches of the given
// size.
func sendAlbums(r *albumv1.StreamAlbumsRequest, s albumStream, size int) error {
	var albums []*albumv1.AlbumSummary
	for id := int64(10); id <= 50; id += 10 {
		if id > r.GetAfterAlbumId() && (r.GetLimit() == 0 || int64(len(albums)) < r.GetLimit()) {
			albums = append(albums, &albumv1.AlbumSummary{AlbumId: id, Title: "t"})
		}
	}
	for len(albums) > 0 {
		n := min(size, len(albums))
		if err := s.Send(&albumv1.StreamAlbumsResponse{Albums: albums[:n]}); err != nil {
			return err
		}
		albums = albums[n:]
	}
	return nil
}

func TestLimitAndAfterSelectAPartOfAList(t *testing.T) {
	albums := func(next string, ids ...int) string {
		var list strings.Builder
		for i, id := range ids {
			fmt.Fprintf(&list, "<album%d><albumID>%d</albumID><albumTitle>t</albumTitle></album%[1]d>", i+1, id)
		}
		return xmlBody("<status>SUCCESS</status><albumList>" + list.String() + "</albumList>" + next)
	}
	for size := 1; size <= 6; size++ {
		h := newEdge(t, &fakes{albums: func(r *albumv1.StreamAlbumsRequest, s albumStream) error { return sendAlbums(r, s, size) }})
		for parameters, want := range map[string]string{
			"&limit=2":          albums("<next>20</next>", 10, 20),
			"&limit=2&after=20": albums("<next>40</next>", 30, 40),
			"&limit=5":          albums("", 10, 20, 30, 40, 50),
			"&limit=4&after=0":  albums("<next>40</next>", 10, 20, 30, 40),
		} {
			if w := get(h, "func=getUserAlbumList&userID=7"+parameters); w.Body.String() != want {
				t.Errorf("batches of %d, %q: got %s\nwant %s", size, parameters, w.Body, want)
			}
		}
	}
}

// An old number that is not told by the new one is large, and could be an identifier of Waybook.
func TestTheNextPartOfAListWithOldIdentifiersBeginsWhereThisOneEnds(t *testing.T) {
	for oldID, want := range map[string]string{"1700000000000": "99", "IMG_1": "IMG_1", "007": "99", "12345678901234567890": "12345678901234567890"} {
		h := newEdge(t, &fakes{albums: func(_ *albumv1.StreamAlbumsRequest, s albumStream) error {
			return s.Send(&albumv1.StreamAlbumsResponse{Albums: []*albumv1.AlbumSummary{{AlbumId: 99, OldId: oldID}, {AlbumId: 100}}})
		}}, func(c *Config) { c.Identifiers = OldIdentifiers })
		w := get(h, "func=getUserAlbumList&userID=7&limit=1")
		if !strings.Contains(w.Body.String(), "<albumID>"+oldID+"</albumID>") || !strings.Contains(w.Body.String(), "<next>"+want+"</next>") {
			t.Errorf("%s: %s", oldID, w.Body)
		}
	}
}

func TestALongPartIsStreamedAndEndsAtItsLimit(t *testing.T) {
	// This service ignores the limit: the edge enforces it and stops the service.
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
		if err := <-stopped; err == nil {
			t.Errorf("%s: the service sent everything", format)
		}
	}
}

func TestAPartFailsWhenTheServiceFails(t *testing.T) {
	server := serve(t, &fakes{pois: func(_ *poiv1.StreamPoisRequest, s poiStream) error {
		if err := sendPois(s, 1); err != nil {
			return err
		}
		return status.Error(codes.Unavailable, "gone")
	}})
	response := fetch(t, http.MethodGet, server.URL+listPois+"&limit=600")
	if body := readAll(t, response.Body); response.StatusCode != 503 || body != failed("SERVICE UNAVAILABLE") {
		t.Errorf("got %d %s", response.StatusCode, body)
	}
}
