package edge

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge/operation"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// The golden case vote-invalid has the other faults of a vote.
func TestAVoteIsWholeOrFails(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(&blogv1.CreateBlogResponse{}, nil)})
	many := "voteDescription=d"
	for _, n := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21") {
		many += "&choice" + n + "=a"
	}
	for vote, want := range map[string]string{
		"voteDescription=d&choice1=a":                    "MISSING PARAMETER: choice2",
		"voteDescription=d&choice1=a&choice2=b&choice4=": "",
		"voteDescription=d&choice1=a&choice2=%FF":        "INVALID ENCODING: choice2",
		"voteDescription=d&choice1=a&choice4=b":          "MISSING PARAMETER: choice2; MISSING PARAMETER: choice3",
		strings.Replace(many, "21", "", 1):               "",
	} {
		body := failed(want)
		if want == "" {
			body = xmlBody("<status>SUCCESS</status><blogID>0</blogID><reward>0</reward>")
		}
		if w := post(h, "func=postBlog&"+blogForm+"&"+vote); w.Body.String() != body {
			t.Errorf("%.60s: got %s\nwant %s", vote, w.Body, body)
		}
	}
}

func TestWithoutAdditionsThereAreExactlyTheElevenOperations(t *testing.T) {
	f := &fakes{answer: func(_ context.Context, r proto.Message) (proto.Message, error) {
		if request, isPost := r.(*blogv1.CreateBlogRequest); isPost && request.GetVote() == nil {
			return &blogv1.CreateBlogResponse{}, nil
		}
		return nil, refusedFor(codes.NotFound, "ALBUM_NOT_FOUND")
	}}
	h := newEdge(t, f, func(c *Config) { c.Additions = operation.AdditionsWithheld })
	const eleven = "INVALID PARAMETER: func (one of addAlbum, updateAlbum, getAlbum, getUserAlbumList, getCategoryPOIList, getPOI, postBlog, updateBlog, getBlog)"
	for _, each := range Operations() {
		if strings.Contains(eleven, " "+each.Func) {
			continue
		}
		if w := post(h, "func="+each.Func); w.Body.String() != failed(eleven) {
			t.Errorf("%s: got %s", each.Func, w.Body)
		}
	}
	if w := post(h, "func=postBlog&voteDescription=d&choice1=a&"+blogForm); !strings.Contains(w.Body.String(), "SUCCESS") {
		t.Errorf("parameters of a vote are not ignored: %s", w.Body)
	}
	if w := get(h, "func=getAlbum&albumID=1&withIDs=maybe"); w.Body.String() != failed("ALBUM NOT FOUND") {
		t.Errorf("withIDs is not ignored: %s", w.Body)
	}
	c := &Config{Additions: operation.AdditionsWithheld}
	c.Account, c.Album, c.Blog, c.Poi = nil, albumv1.NewAlbumServiceClient(nil), blogv1.NewBlogServiceClient(nil), poiv1.NewPoiServiceClient(nil)
	if rows := c.Operations(); len(rows) != 11 {
		t.Errorf("%d operations are described", len(rows))
	}
}
