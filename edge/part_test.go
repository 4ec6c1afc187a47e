package edge

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// listAlbums follows the contract for a user with albums 10, 20 … 50. A page has at most the given number of
// albums, and may be empty.
func listAlbums(r *albumv1.ListAlbumsRequest, size int) *albumv1.ListAlbumsResponse {
	position, _ := strconv.ParseInt(r.GetPageToken(), 10, 64)
	reply := &albumv1.ListAlbumsResponse{}
	for id := max(position, r.GetAfterAlbumId()) + 10; id <= 50; id += 10 {
		if len(reply.Summaries) == min(size, int(r.GetPageSize())) {
			reply.NextPageToken = strconv.FormatInt(id-10, 10)
			break
		}
		reply.Summaries = append(reply.Summaries, &typev1.Summary{Id: id, Title: "t"})
	}
	return reply
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
		h := newEdge(t, &fakes{albums: func(_ context.Context, r *albumv1.ListAlbumsRequest) (*albumv1.ListAlbumsResponse, error) {
			return listAlbums(r, size), nil
		}})
		for parameters, want := range map[string]string{
			"&limit=2":          albums("<next>20</next>", 10, 20),
			"&limit=2&after=20": albums("<next>40</next>", 30, 40),
			"&limit=5":          albums("", 10, 20, 30, 40, 50),
			"&limit=4&after=0":  albums("<next>40</next>", 10, 20, 30, 40),
		} {
			if w := get(h, "func=getUserAlbumList&userID=7"+parameters); w.Body.String() != want {
				t.Errorf("pages of %d, %q: got %s\nwant %s", size, parameters, w.Body, want)
			}
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
