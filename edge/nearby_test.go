package edge

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/admission"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

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

func TestAListWhoseLaterPageFailsIsNoSuccess(t *testing.T) {
	calls := 0
	h := newEdge(t, &fakes{answer: func(ctx context.Context, r proto.Message) (proto.Message, error) {
		if calls++; calls > 1 {
			return nil, status.Error(codes.Unavailable, "gone")
		}
		return &poiv1.ListPoisResponse{Summaries: []*typev1.Summary{{Id: 1}}, NextPageToken: "t"}, nil
	}})
	w := get(h, "func=getNearbyPOIList&latMin=0&latMax=1&lngMin=2&lngMax=3")
	if want := failed("SERVICE UNAVAILABLE"); w.Body.String() != want {
		t.Errorf("got %s", w.Body)
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
