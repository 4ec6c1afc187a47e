package edge

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// boxOf has landmarks with the ids from 1 to count. Its pages have at most size landmarks; a page
// of an odd number of calls is empty.
func boxOf(count, size int) func(context.Context, proto.Message) (proto.Message, error) {
	calls := 0
	return func(_ context.Context, request proto.Message) (proto.Message, error) {
		r := request.(*poiv1.ListPoisInBoxRequest)
		after := 0
		if _, err := fmt.Sscan("0"+strings.TrimPrefix(r.GetPageToken(), "t"), &after); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
		page := &poiv1.ListPoisInBoxResponse{}
		calls++
		for id := after + 1; id <= min(count, after+min(size, int(r.GetPageSize()))) && calls%2 == 0; id++ {
			page.Pois = append(page.Pois, &poiv1.LocatedPoi{PoiId: int64(id), Name: "n", Category: 2, Location: &typev1.Location{Lat: 1, Lng: 2}})
		}
		if after += len(page.Pois); after < count {
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
			if n := r.(*poiv1.ListPoisInBoxRequest).GetPageSize(); n < 1 || n > 1000 {
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
		return &poiv1.ListPoisInBoxResponse{Pois: []*poiv1.LocatedPoi{{PoiId: 1}}, NextPageToken: "t"}, nil
	}})
	w := get(h, "func=getNearbyPOIList&latMin=0&latMax=1&lngMin=2&lngMax=3")
	if want := failed("SERVICE UNAVAILABLE"); w.Body.String() != want {
		t.Errorf("got %s", w.Body)
	}
}

func TestNearbyLandmarksAreFoundAroundAPointOrInABox(t *testing.T) {
	f := &fakes{answer: func(_ context.Context, r proto.Message) (proto.Message, error) {
		if _, isBox := r.(*poiv1.ListPoisInBoxRequest); isBox {
			return &poiv1.ListPoisInBoxResponse{}, nil
		}
		return &poiv1.SearchNearbyResponse{Pois: []*poiv1.FoundPoi{
			{Poi: &poiv1.Poi{PoiId: 3, Name: "夜市", Category: 2, Location: place, Score: 9}, DistanceMeters: 1234.5678},
			{Poi: &poiv1.Poi{PoiId: 4, Location: place}, DistanceMeters: 1e-9},
		}}, nil
	}}
	h := newEdge(t, f)
	center := &typev1.Location{Lat: 25.5, Lng: -180}
	circle := &poiv1.SearchNearbyRequest{
		Area:     &poiv1.SearchNearbyRequest_Circle{Circle: &typev1.Circle{Center: center, RadiusMeters: 50_000}},
		Category: 2, PageSize: 7, PageToken: "x y",
	}
	crossing := &poiv1.ListPoisInBoxRequest{Bounds: &poiv1.Bounds{South: -1, West: 170, North: 2.5, East: -170}, PageSize: 1000}
	for parameters, want := range map[string]proto.Message{
		"lat=25.5&lng=-180&radius=50000&category=2&limit=7&after=x+y": circle,
		"latMin=-1&latMax=2.5&lngMin=170&lngMax=-170":                 crossing,
		"lat=&latMin=-1&latMax=2.5&lngMin=170&lngMax=-170&limit=1000": crossing,
	} {
		w := get(h, "responseFormat=JSON&func=getNearbyPOIList&"+parameters)
		if requests := f.called(); len(requests) != 1 || !cmp.Equal(requests[0], want, protocmp.Transform()) {
			t.Errorf("%s: %v was asked for, want %v", parameters, requests, want)
		}
		body := `{"status":"SUCCESS","POIList":[]}`
		if want == circle {
			body = `{"status":"SUCCESS","POIList":[` +
				`{"POIID":3,"name":"夜市","category":2,"Location":{"lat":25.0339639,"lng":121.5644722},"distance":1234.6},` +
				`{"POIID":4,"name":"","category":0,"Location":{"lat":25.0339639,"lng":121.5644722},"distance":0}]}`
		}
		if w.Body.String() != body {
			t.Errorf("%s: got %s", parameters, w.Body)
		}
	}
}
