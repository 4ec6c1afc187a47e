package edge

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

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
