package edge

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
)

type operationCase struct {
	name, form string
	answer     proto.Message // response of a unary call
	request    proto.Message // request that the service gets
	xml, json  string        // reply after the status
}

// login_test.go covers login and logout.
var operationCases = []operationCase{
	{
		name:    "an album is added",
		form:    "func=addAlbum&albumTitle=%E5%8F%B0%E5%8C%97+101&category=5&lat=25.0339639&lng=121.5644722",
		request: &albumv1.CreateAlbumRequest{OwnerId: 7, Title: "台北 101", Category: 5, Location: place},
		answer:  &albumv1.CreateAlbumResponse{Album: &albumv1.Album{AlbumId: 9007199254740991}},
		xml:     "<albumID>9007199254740991</albumID>",
		json:    `"albumID":9007199254740991`,
	},
	{
		name:    "an album is updated, and absent fields stay",
		form:    "func=updateAlbum&albumID=12&lat=-0.5&delete=FALSE",
		request: &albumv1.UpdateAlbumRequest{ActorId: 7, AlbumId: 12, Lat: new(-0.5)},
		answer:  &albumv1.UpdateAlbumResponse{},
	},
	{
		name:    "an album is deleted, and only its id is read",
		form:    "func=updateAlbum&delete=True&albumID=12&lat=north",
		request: &albumv1.DeleteAlbumRequest{ActorId: 7, AlbumId: 12},
		answer:  &albumv1.DeleteAlbumResponse{},
	},
	{
		name:    "an album is shown",
		form:    "func=getAlbum&albumID=12",
		request: &albumv1.GetAlbumRequest{AlbumId: 12},
		answer: &albumv1.GetAlbumResponse{
			Album: &albumv1.Album{
				AlbumId: 12, Title: "A & B", Category: 16, Location: place, Score: 3,
				Owner: &typev1.Profile{Name: "小明"}, UpdateTime: noon,
			},
			Photos: []*albumv1.Photo{{PhotoId: 5, ThumbnailUrl: "a.jpg"}, {PhotoId: 6, ThumbnailUrl: "b.jpg", Description: "x"}},
			Comments: []*typev1.Comment{{
				Author: &typev1.Profile{Name: "阿花", IconUrl: "/i.png"}, CreateTime: noon, Text: "好",
				Reply: &typev1.AuthorReply{CreateTime: noon, Text: "謝謝"},
			}},
		},
		xml: "<albumTitle>A &amp; B</albumTitle><category>16</category>" +
			"<Location><lat>25.0339639</lat><lng>121.5644722</lng></Location>" +
			"<ownerName>小明</ownerName><ownerIcon></ownerIcon>" +
			"<updateDate><year>2009</year><month>02</month><day>03</day></updateDate><score>3</score>" +
			"<photos><photo1><photoID>5</photoID><thumbnail>a.jpg</thumbnail><description></description></photo1>" +
			"<photo2><photoID>6</photoID><thumbnail>b.jpg</thumbnail><description>x</description></photo2></photos>" +
			"<comments><comment1><time>2009-02-03 20:00:00</time><commenterName>阿花</commenterName>" +
			"<commenterIcon>/i.png</commenterIcon><comment>好</comment>" +
			"<authorReply><time>2009-02-03 20:00:00</time><reply>謝謝</reply></authorReply></comment1></comments>",
		json: `"albumTitle":"A & B","category":16,"Location":{"lat":25.0339639,"lng":121.5644722},` +
			`"ownerName":"小明","ownerIcon":"","updateDate":{"year":2009,"month":2,"day":3},"score":3,` +
			`"photos":[{"photoID":5,"thumbnail":"a.jpg","description":""},{"photoID":6,"thumbnail":"b.jpg","description":"x"}],` +
			`"comments":[{"time":"2009-02-03 20:00:00","commenterName":"阿花","commenterIcon":"/i.png","comment":"好",` +
			`"authorReply":{"time":"2009-02-03 20:00:00","reply":"謝謝"}}]`,
	},
	{
		name:    "a user's albums are listed",
		form:    "func=getUserAlbumList&userID=7",
		request: &albumv1.StreamAlbumsRequest{OwnerId: 7},
		xml: "<albumList><album1><albumID>1</albumID><albumTitle>a</albumTitle></album1>" +
			"<album2><albumID>2</albumID><albumTitle>b</albumTitle></album2></albumList>",
		json: `"albumList":[{"albumID":1,"albumTitle":"a"},{"albumID":2,"albumTitle":"b"}]`,
	},
	{
		name:    "a category without landmarks is an empty list",
		form:    "func=getCategoryPOIList&category=5",
		request: &poiv1.StreamPoisRequest{Category: 5},
		xml:     "<POIList></POIList>",
		json:    `"POIList":[]`,
	},
	{
		name:    "a landmark is shown",
		form:    "func=getPOI&POIID=3",
		request: &poiv1.GetPoiRequest{PoiId: 3},
		answer: &poiv1.GetPoiResponse{
			Poi:    &poiv1.Poi{Name: "101", Category: 1, Location: place, Owner: &typev1.Profile{Name: "o", IconUrl: "i"}, UpdateTime: noon},
			Photos: []*poiv1.Photo{{PhotoUrl: "http://x/?a&b", Description: "d"}},
		},
		xml: "<name>101</name><category>1</category><Location><lat>25.0339639</lat><lng>121.5644722</lng></Location>" +
			"<ownerName>o</ownerName><ownerIcon>i</ownerIcon>" +
			"<updateDate><year>2009</year><month>02</month><day>03</day></updateDate><score>0</score>" +
			"<photos><photo1><description>d</description><photoPath>http://x/?a&amp;b</photoPath>" +
			"<photo>http://x/?a&amp;b</photo></photo1></photos>",
		json: `"name":"101","category":1,"Location":{"lat":25.0339639,"lng":121.5644722},"ownerName":"o","ownerIcon":"i",` +
			`"updateDate":{"year":2009,"month":2,"day":3},"score":0,` +
			`"photos":[{"description":"d","photoPath":"http://x/?a&b","photo":"http://x/?a&b"}]`,
	},
	{
		name: "a blog is posted, and an empty quote means no quote",
		form: "func=postBlog&replyBlogID=&" + blogForm,
		request: &blogv1.CreateBlogRequest{
			AuthorId: 7, Type: blogv1.BlogType_BLOG_TYPE_TRAVEL, Location: place, Title: "t", Content: "a\r\nb",
			PostDate: leapDay, Weather: blogv1.Weather_WEATHER_RAINBOW,
		},
		answer: &blogv1.CreateBlogResponse{Blog: &blogv1.Blog{BlogId: 4, Reward: 10}},
		xml:    "<blogID>4</blogID><reward>10</reward>",
		json:   `"blogID":4,"reward":10`,
	},
	{
		name: "a blog is updated, and an empty quote removes the quote",
		form: "func=updateBlog&blogID=4&replyBlogID=&zoomLevel=0&mapType=3&" + blogForm,
		request: &blogv1.UpdateBlogRequest{
			ActorId: 7, BlogId: 4, Type: new(blogv1.BlogType_BLOG_TYPE_TRAVEL), Location: place, Title: new("t"),
			Content: new("a\r\nb"), PostDate: leapDay, Weather: new(blogv1.Weather_WEATHER_RAINBOW),
			ReplyBlogId: new(int64(0)), ZoomLevel: new(int32(0)), MapType: new(blogv1.MapType_MAP_TYPE_HYBRID),
		},
		answer: &blogv1.UpdateBlogResponse{},
	},
	{
		name:    "a blog is deleted",
		form:    "func=updateBlog&delete=true&blogID=4",
		request: &blogv1.DeleteBlogRequest{ActorId: 7, BlogId: 4},
		answer:  &blogv1.DeleteBlogResponse{},
	},
	{
		name:    "a blog is shown with its vote",
		form:    "func=getBlog&blogID=4",
		request: &blogv1.GetBlogRequest{BlogId: 4},
		answer: &blogv1.GetBlogResponse{Blog: &blogv1.Blog{
			Author: &typev1.Profile{Name: "n"}, Type: 1, Location: place, Title: "t", Content: "a\r\nb", PostDate: leapDay,
			Weather: 1, ReplyBlogId: 2, ZoomLevel: 14, MapType: 1, Score: 8,
			Vote: &blogv1.Vote{Description: "?", Choices: []*blogv1.Choice{{Description: "y", Votes: 3}, {Description: "n"}}},
		}},
		xml: "<authorName>n</authorName><authorIcon></authorIcon><type>0_0</type>" +
			"<Location><lat>25.0339639</lat><lng>121.5644722</lng></Location><blogTitle>t</blogTitle>" +
			"<blogContent>a&#13;\nb</blogContent><postDate><year>2012</year><month>02</month><day>29</day></postDate>" +
			"<weather>晴空萬里</weather><replyBlogID>2</replyBlogID><zoomLevel>14</zoomLevel><mapType>1</mapType><score>8</score>" +
			"<vote><description>?</description><choices><choice1><description>y</description><votes>3</votes></choice1>" +
			"<choice2><description>n</description><votes>0</votes></choice2></choices></vote>",
		json: `"authorName":"n","authorIcon":"","type":"0_0","Location":{"lat":25.0339639,"lng":121.5644722},` +
			`"blogTitle":"t","blogContent":"a\r\nb","postDate":{"year":2012,"month":2,"day":29},"weather":"晴空萬里",` +
			`"replyBlogID":2,"zoomLevel":14,"mapType":1,"score":8,` +
			`"vote":{"description":"?","choices":[{"description":"y","votes":3},{"description":"n","votes":0}]}`,
	},
	{
		name:    "a user's published entries are listed",
		form:    "func=getUserBlogList&userID=7&limit=1",
		request: &blogv1.StreamBlogsRequest{AuthorId: 7, Limit: 2, Publication: blogv1.BlogPublication_BLOG_PUBLICATION_PUBLISHED},
		xml:     "<blogList><blog1><blogID>1</blogID><blogTitle>a</blogTitle></blog1></blogList><next>1</next>",
		json:    `"blogList":[{"blogID":1,"blogTitle":"a"}],"next":1`,
	},
}

const blogForm = "type=0_8&lat=25.0339639&lng=121.5644722&blogTitle=t&blogContent=a%0D%0Ab&year=2012&month=02&day=29&weather=有彩虹"

var (
	place   = &typev1.Location{Lat: 25.0339639, Lng: 121.5644722}
	noon    = timestamppb.New(time.Date(2009, 2, 3, 12, 0, 0, 0, time.UTC))
	leapDay = &typev1.Date{Year: 2012, Month: 2, Day: 29}
)

func TestEveryOperationCallsItsServiceAndWritesBothFormats(t *testing.T) {
	for _, c := range slices.Concat(operationCases, additionCases) {
		t.Run(c.name, func(t *testing.T) {
			f := &fakes{answer: always(c.answer, nil), albums: sendTwoAlbums, pois: sendNoPois}
			h := newEdge(t, f)

			w := post(h, c.form)
			if diff := cmp.Diff(xmlBody("<status>SUCCESS</status>"+c.xml), w.Body.String()); diff != "" {
				t.Error(diff)
			}
			requests := f.called()
			if diff := cmp.Diff([]proto.Message{c.request}, requests, protocmp.Transform(),
				ignoreRequestID(c.request)); diff != "" {
				t.Error(diff)
			}

			members := c.json
			if members != "" {
				members = "," + members
			}
			w = post(h, c.form+"&responseFormat=json")
			if diff := cmp.Diff(`{"status":"SUCCESS"`+members+"}", w.Body.String()); diff != "" {
				t.Error(diff)
			}
			if w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
		})
	}
}

// ignoreRequestID ignores the request_id of a request, if it has one.
func ignoreRequestID(request proto.Message) cmp.Option {
	if request.ProtoReflect().Descriptor().Fields().ByName("request_id") == nil {
		return nil
	}
	return protocmp.IgnoreFields(request, "request_id")
}

func TestEachCreateCarriesItsOwnRequestID(t *testing.T) {
	f := &fakes{answer: always(&albumv1.CreateAlbumResponse{}, nil)}
	h := newEdge(t, f)
	seen := map[string]bool{}
	for range 3 {
		post(h, operationCases[0].form)
		for _, request := range f.called() { // the fakes have validated it
			seen[request.(*albumv1.CreateAlbumRequest).GetRequestId()] = true
		}
	}
	if len(seen) != 3 || seen[""] {
		t.Errorf("got %v", seen)
	}
}

func sendTwoAlbums(_ *albumv1.StreamAlbumsRequest, s grpc.ServerStreamingServer[albumv1.StreamAlbumsResponse]) error {
	return s.Send(&albumv1.StreamAlbumsResponse{Albums: []*albumv1.AlbumSummary{
		{AlbumId: 1, Title: "a"}, {AlbumId: 2, Title: "b"},
	}})
}

func sendNoPois(*poiv1.StreamPoisRequest, grpc.ServerStreamingServer[poiv1.StreamPoisResponse]) error {
	return nil
}

func TestSharedParametersAreFuncFormatAndSignature(t *testing.T) {
	var names []string
	for _, p := range SharedParameters() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "func key responseFormat sig ts" {
		t.Errorf("every request may carry %s", got)
	}
}

// unknownFunc returns the info of an unknown func. It lists the table except the functions in
// without. The golden case func has the exact list.
func unknownFunc(without ...string) string {
	var names []string
	for _, each := range Operations() {
		if !slices.Contains(names, each.Func) && !slices.Contains(without, each.Func) {
			names = append(names, each.Func)
		}
	}
	return "INVALID PARAMETER: func (one of " + strings.Join(names, ", ") + ")"
}
