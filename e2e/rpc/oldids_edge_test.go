package rpc_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
)

// front is a Waybook with its edge, and a logged-in user.
type front struct {
	*waybook
	user   int64
	client *waybooktest.Client
}

// startFront starts a Waybook that shows identifiers; ids is a value of -ids.
func startFront(t *testing.T, ids string) *front {
	t.Helper()
	f := &front{waybook: start(t, waybooktest.Flags("-ids", ids))}
	return f.as(f.newUser("a"))
}

// post sends a request and returns the reply.
func (f *front) post(parameters string) string {
	f.t.Helper()
	return f.client.Post(parameters).Body
}

// diary are the parameters that postBlog and updateBlog need.
const diary = "&type=0_1&lat=25&lng=121&blogTitle=t&blogContent=c&year=2026&month=1&day=2&weather=有彩虹"

// moveTwo moves content in: with the old identifier 12, and with one that is no number.
func (f *front) moveTwo() {
	f.t.Helper()
	text := whole("album", "a-1", f.user, 300)
	text[1].GetPhoto().Id, text[4].GetComment().Id = "p-1", "c-1"
	quoting, quotingText := whole("entry", "b-1", f.user, 300), whole("entry", "13", f.user, 400)[:1]
	quoting[0].GetEntry().QuotedId, quotingText[0].GetEntry().QuotedId = "12", "b-1"
	for _, records := range [][]*moveinv1.Record{
		whole("album", "12", f.user, 100), text, whole("entry", "12", f.user, 100), quoting, quotingText,
		whole("landmark", "12", f.user, 100), whole("landmark", "p-1", f.user, 300),
	} {
		expectAll(f.t, f.moveRecords(records...), inserted)
	}
}

func TestTheElevenOperationsTakeOldIdentifiers(t *testing.T) {
	t.Parallel()
	f := startFront(t, "new")
	f.moveTwo()
	for _, parameters := range []string{
		"func=getAlbum&albumID=%s", "func=updateAlbum&albumID=%s&albumTitle=x",
		"func=getPOI&POIID=%s",
		"func=getBlog&blogID=%s", "func=updateBlog&blogID=%s" + diary,
		"func=postBlog&replyBlogID=%s" + diary, "func=updateBlog&blogID=13&replyBlogID=%s" + diary,
		"func=updateAlbum&delete=true&albumID=%s", "func=updateBlog&delete=true&blogID=%s",
	} {
		texts := map[string]string{"album": "a-1", "POI": "p-1", "blog": "b-1"}
		for _, old := range []string{"12", ""} {
			for kind, text := range texts {
				if old == "" && strings.Contains(parameters, kind+"ID=%s") || old == "" && kind == "blog" && strings.Contains(parameters, "replyBlogID") {
					old = text
				}
			}
			asked := fmt.Sprintf(parameters, url.QueryEscape(old))
			if reply := f.post(asked); !strings.Contains(reply, "<status>SUCCESS</status>") {
				t.Errorf("%s: %s", asked, reply)
			}
		}
	}
}

func TestAParameterThatStandsForNothingIsInvalidAsEver(t *testing.T) {
	t.Parallel()
	f, without := startFront(t, "new"), startFront(t, "new")
	f.moveTwo()
	for _, parameters := range []string{
		"func=getAlbum&albumID=b-1", "func=getAlbum&albumID=x", "func=getAlbum&albumID=-12", "func=getAlbum&albumID=12.0",
		"func=getAlbum&albumID=9007199254740992", "func=getAlbum&albumID=99999999999999999999", "func=getAlbum&albumID=99",
		"func=getAlbum&albumID=" + strings.Repeat("a", 101), "func=getAlbum&albumID=%01", "func=getAlbum&albumID=",
		"func=getUserAlbumList&userID=a-1", "func=getUserAlbumList&userID=1&after=x",
		"func=postBlog&replyBlogID=x&lat=y", "func=removePhoto&albumID=x&photoID=y", "func=replyComment&blogID=5&commentID=z",
	} {
		if got, want := f.post(parameters), without.post(parameters); got != want || !strings.Contains(got, "FAILED") {
			t.Errorf("%s: %s\nwithout content: %s", parameters, got, want)
		}
	}
}

func TestRepliesShowOldIdentifiersOnRequest(t *testing.T) {
	t.Parallel()
	f := startFront(t, "old")
	f.moveTwo()
	drawn := f.newAlbum(f.user, "new")
	for parameters, want := range map[string][]string{
		"func=getAlbum&albumID=12":                                               {"<photoID>100</photoID>", "<photoID>102</photoID>", "<commenterName>路人</commenterName>"},
		"func=getAlbum&albumID=a-1":                                              {"<photoID>p-1</photoID>", "<photoID>301</photoID>"},
		"func=getAlbum&albumID=a-1&withIDs=true":                                 {"<commentID>c-1</commentID>", "<commentID>301</commentID>"},
		"func=getBlog&blogID=b-1":                                                {"<replyBlogID>12</replyBlogID>"},
		"func=getBlog&blogID=13":                                                 {"<replyBlogID>b-1</replyBlogID>"},
		"func=getCategoryPOIList&category=1":                                     {"<POIID>12</POIID>", "<POIID>p-1</POIID>"},
		"func=getCategoryPOIList&category=1&limit=1":                             {"<POIID>12</POIID>", "<next>12</next>"},
		fmt.Sprintf("func=getUserAlbumList&userID=%d", f.user):                   {"<albumID>12</albumID>", "<albumID>a-1</albumID>", fmt.Sprintf("<albumID>%d</albumID>", drawn)},
		fmt.Sprintf("func=getUserAlbumList&userID=%d&after=12&limit=1", f.user):  {"<albumID>a-1</albumID>", "<next>a-1</next>"},
		fmt.Sprintf("func=getUserAlbumList&userID=%d&after=a-1&limit=1", f.user): {fmt.Sprintf("<albumID>%d</albumID>", drawn)},
		fmt.Sprintf("func=getUserBlogList&userID=%d", f.user):                    {"<blogID>12</blogID>", "<blogID>b-1</blogID>"},
		"func=getNearbyPOIList&lat=25.034&lng=121.5645&radius=10":                {"<POIID>12</POIID>", "<POIID>p-1</POIID>"},
	} {
		reply := f.post(parameters)
		for _, each := range want {
			if !strings.Contains(reply, each) {
				t.Errorf("%s lacks %s: %s", parameters, each, reply)
			}
		}
	}
	if reply := f.post("func=getAlbum&albumID=a-1&responseFormat=JSON"); !strings.Contains(reply, `"photoID":"p-1"`) || !strings.Contains(reply, `"photoID":301`) {
		t.Errorf("as JSON: %s", reply)
	}
}
