package rpc_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	moveinv1 "github.com/waybook/waybook/proto/gen/waybook/movein/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// smallFrom is the first small identifier of the tests.
const smallFrom = 5_000_000

// store selects the store of a Waybook.
type store = waybooktest.Option

// onStores runs a test on each store, in the short form on the embedded one alone.
func onStores(t *testing.T, test func(*testing.T, store)) {
	t.Run("embedded", func(t *testing.T) {
		data := t.TempDir()
		test(t, waybooktest.Flags("-data", data))
	})
	t.Run("mongodb", func(t *testing.T) {
		longform.Only(t)
		uri := mongotest.StartReplicaSet(t)
		test(t, waybooktest.OnMongoDB(uri))
	})
}

// startSmall starts a Waybook for clients with 32 bits.
func startSmall(t *testing.T, on store, from int64) (f *front, stop func()) {
	t.Helper()
	f = &front{waybook: start(t, on, waybooktest.Flags("-ids=old", smallFlag(from)))}
	return f, f.Stop
}

func smallFlag(from int64) string { return fmt.Sprintf("-%s=%d", smallids.Flag, from) }

// as gives the front a session of a user.
func (f *front) as(user int64) *front {
	f.user, f.client = user, f.As(user)
	return f
}

func startError(t *testing.T, on store, from int64) error {
	t.Helper()
	_, err := waybooktest.TryStart(t, on, waybooktest.Flags(smallFlag(from)))
	return err
}

// identifiers finds the identifiers in a reply: elements and members whose names end in ID, id of login, and next.
var identifiers = regexp.MustCompile(`<(\w*ID|id|next)>(\d+)<|"(\w*ID|id|next)":"?(\d+)`)

// small sends a request, whose reply has small identifiers only, and returns that of a name; 0 if it has none.
func (f *front) small(parameters, name string) (found int64) {
	f.t.Helper()
	reply := f.post(parameters)
	if !strings.Contains(reply, "SUCCESS") {
		f.t.Fatalf("%s: %s", parameters, reply)
	}
	for _, each := range identifiers.FindAllStringSubmatch(reply, -1) {
		number := must(strconv.ParseInt(each[2]+each[4], 10, 64))(f.t)
		if number > smallids.Max { // the commenter 0 is a guest
			f.t.Errorf("%s: %s does not fit 31 bits: %s", parameters, each[0], reply)
		}
		if each[1]+each[3] == name {
			found = number
		}
	}
	if name != "" && found == 0 {
		f.t.Fatalf("%s: no %s: %s", parameters, name, reply)
	}
	return found
}

const newAlbum = "func=addAlbum&albumTitle=t&category=5&lat=25&lng=121"

func TestEveryIdentifierOfEveryOperationFitsIn31Bits(t *testing.T) {
	onStores(t, func(t *testing.T, on store) {
		f, _ := startSmall(t, on, smallFrom)
		user := must(f.Account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: "a", Email: "a@example.com", Password: "a long password"}))(t).GetUser()
		f.as(user.GetUserId())
		if user.GetUserId() != smallFrom || !user.GetIsSmall() {
			t.Errorf("got the user %v", user)
		}
		f.small("func=login&email=a@example.com&password=a long password", "id")
		for _, kind := range []string{"album", "entry", "landmark"} {
			expectAll(t, f.moveRecords(whole(kind, "12", f.user, 100)...), inserted)
		}
		poi := f.newPoi(f.user, "p")
		imported := must(f.importPois(t.Context(), &poiv1.ImportPoisRequest{OwnerId: f.user, Pois: []*poiv1.ImportedPoi{
			{Key: "a", Name: "a", Category: 1, Location: taipei}, {Key: "b", Name: "b", Category: 1, Location: taipei},
		}}))(t)
		if imported.GetCreatedCount() != 2 || poi == 0 {
			t.Errorf("got %v", imported)
		}
		album, blog := f.small(newAlbum, "albumID"), f.small("func=postBlog&voteDescription=v&choice1=a&choice2=b&replyBlogID=12"+diary, "blogID")
		landmark := f.small("func=getCategoryPOIList&category=1", "POIID")
		for kind, number := range map[string]int64{"albumID": album, "blogID": blog, "POIID": landmark} {
			of := fmt.Sprintf("%s=%d", kind, number)
			photo := map[string]string{"albumID": "thumbnail", "POIID": "photo"}[kind]
			f.small("func=recommend&"+of, "")
			for range 3 {
				comment := f.small("func=addComment&comment=c&"+of, "commentID")
				f.small(fmt.Sprintf("func=replyComment&reply=r&%s&commentID=%d", of, comment), "")
				if photo != "" {
					f.small("func=addPhoto&"+photo+"=a.jpg&"+of, "photoID")
				}
			}
			removed := f.small("func=addComment&comment=c&"+of, "commentID")
			f.small(fmt.Sprintf("func=removeComment&%s&commentID=%d", of, removed), "")
			if photo != "" {
				f.small(fmt.Sprintf("func=removePhoto&%s&photoID=%d", of, f.small("func=addPhoto&"+photo+"=a.jpg&"+of, "photoID")), "")
			}
		}
		quoting := f.small(fmt.Sprintf("func=postBlog&replyBlogID=%d", blog)+diary, "blogID")
		f.small(fmt.Sprintf("func=updateBlog&blogID=%d&replyBlogID=12", quoting)+diary, "")
		f.small(fmt.Sprintf("func=updateAlbum&albumID=%d&albumTitle=x", album), "")
		f.small(fmt.Sprintf("func=castVote&blogID=%d&choice=1", blog), "")
		for _, format := range []string{"", "&responseFormat=JSON"} {
			for _, parameters := range []string{
				fmt.Sprintf("func=getAlbum&withIDs=true&albumID=%d", album), "func=getAlbum&withIDs=true&albumID=12",
				fmt.Sprintf("func=getPOI&withIDs=true&POIID=%d", landmark), fmt.Sprintf("func=getBlog&withIDs=true&blogID=%d", blog),
			} {
				f.small(parameters+format, "commentID")
			}
			f.small(fmt.Sprintf("func=getBlog&blogID=%d", quoting)+format, "replyBlogID")
			f.small(fmt.Sprintf("func=getUserAlbumList&userID=%d", f.user)+format, "albumID")
			f.small(fmt.Sprintf("func=getUserAlbumList&userID=%d&limit=1", f.user)+format, "next")
			f.small(fmt.Sprintf("func=getUserBlogList&userID=%d&limit=1", f.user)+format, "next")
			f.small("func=getCategoryPOIList&category=1&limit=2"+format, "next")
			f.small("func=getNearbyPOIList&radius=1000&lat=25.034&lng=121.5645"+format, "POIID")
		}
		f.small(fmt.Sprintf("func=updateAlbum&delete=true&albumID=%d", album), "")
		f.small(fmt.Sprintf("func=updateBlog&delete=true&blogID=%d", blog), "")
		if again := f.small(newAlbum, "albumID"); again == album {
			t.Errorf("%d was given again after its deletion", again)
		}
		if reply := f.post(fmt.Sprintf("func=getAlbum&albumID=%d", album)); !strings.Contains(reply, "ALBUM NOT FOUND") {
			t.Errorf("a deleted album: %s", reply)
		}
	})
}

func TestTheSettingIsDecidedBeforeTheFirstWrite(t *testing.T) {
	expect := func(t *testing.T, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	onStores(t, func(t *testing.T, on store) {
		_, stop := startSmall(t, on, smallFrom)
		stop()
		f, stop := startSmall(t, on, 1000) // nothing was made
		f.as(f.newUser("a"))
		stop()
		expect(t, startError(t, on, 0), "start the program with -small-ids-from 1000")
		expect(t, startError(t, on, smallFrom), "start the program with -small-ids-from 1000")
	})
	onStores(t, func(t *testing.T, on store) {
		w := start(t, on)
		w.newUser("a")
		w.Stop()
		expect(t, startError(t, on, smallFrom), "users has identifiers from 5000000 on")
		w = start(t, on) // nothing was stored that would refuse it
		w.newUser("b")
		w.Stop()
	})
}

func TestOnlyNumbersBelowTheSmallOnesAreMovedIn(t *testing.T) {
	f, _ := startSmall(t, waybooktest.Flags(), smallFrom)
	f.as(f.newUser("a"))
	expectAll(t, f.moveRecords(whole("album", "12", f.user, smallFrom-1)[:2]...), inserted)
	var refused []*moveinv1.Record
	refused = append(refused, whole("album", "a-1", f.user, 300)[0], whole("album", strconv.Itoa(smallFrom), f.user, 200)[0])
	refused = append(refused, whole("album", "12", f.user, smallFrom)[1:]...)
	for _, records := range [][]*moveinv1.Record{refused, {record(&moveinv1.User{Id: smallFrom + 7, Name: "b", CreateTime: longAgo(0)})}} {
		for _, each := range f.moveRecords(records...) {
			if each.GetReason() != "ID_NOT_SMALL" {
				t.Errorf("got %v", each)
			}
		}
	}
}

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
