package edge

import (
	"context"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge/operation"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// thread is a comment with a reply.
var thread = &typev1.Comment{
	CommentId: 31, Author: &typev1.Profile{UserId: 8, Name: "阿花"}, CreateTime: noon, Text: "好",
	Reply: &typev1.AuthorReply{CreateTime: noon, Text: "謝謝"},
}

const (
	threadWithIDsXML = "<comments><comment1><commentID>31</commentID><commenterID>8</commenterID><time>2009-02-03 20:00:00</time>" +
		"<commenterName>阿花</commenterName><commenterIcon></commenterIcon><comment>好</comment>" +
		"<authorReply><time>2009-02-03 20:00:00</time><reply>謝謝</reply></authorReply></comment1></comments>"
	threadWithIDsJSON = `"comments":[{"commentID":31,"commenterID":8,"time":"2009-02-03 20:00:00","commenterName":"阿花","commenterIcon":"",` +
		`"comment":"好","authorReply":{"time":"2009-02-03 20:00:00","reply":"謝謝"}}]`
)

var additionCases = []operationCase{
	{
		name:    "a photo is added to an album",
		form:    "func=addPhoto&albumID=12&thumbnail=a.jpg%3Fx%26y&description=%E5%A4%9C%E6%99%AF",
		request: &albumv1.AddPhotoRequest{ActorId: 7, AlbumId: 12, ThumbnailUrl: "a.jpg?x&y", Description: "夜景"},
		answer:  &albumv1.AddPhotoResponse{Photo: &albumv1.Photo{PhotoId: 5}},
		xml:     "<photoID>5</photoID>", json: `"photoID":5`,
	},
	{
		name:    "a photo is added to a landmark, and an empty albumID is not sent",
		form:    "func=addPhoto&albumID=&POIID=3&photo=b.jpg",
		request: &poiv1.AddPhotoRequest{ActorId: 7, PoiId: 3, PhotoUrl: "b.jpg"},
		answer:  &poiv1.AddPhotoResponse{Photo: &poiv1.Photo{PhotoId: 6}},
		xml:     "<photoID>6</photoID>", json: `"photoID":6`,
	},
	{
		name:    "a photo of an album is removed",
		form:    "func=removePhoto&albumID=12&photoID=5",
		request: &albumv1.RemovePhotoRequest{ActorId: 7, AlbumId: 12, PhotoId: 5},
		answer:  &albumv1.RemovePhotoResponse{},
	},
	{
		name:    "a photo of a landmark is removed",
		form:    "func=removePhoto&POIID=3&photoID=6",
		request: &poiv1.RemovePhotoRequest{ActorId: 7, PoiId: 3, PhotoId: 6},
		answer:  &poiv1.RemovePhotoResponse{},
	},
	{
		name:    "an album gets a comment",
		form:    "func=addComment&albumID=12&comment=%E5%A5%BD",
		request: &albumv1.AddCommentRequest{AuthorId: 7, AlbumId: 12, Text: "好"},
		answer:  &albumv1.AddCommentResponse{Comment: thread},
		xml:     "<commentID>31</commentID>", json: `"commentID":31`,
	},
	{
		name:    "a blog gets a comment",
		form:    "func=addComment&blogID=4&comment=a%0D%0Ab",
		request: &blogv1.AddCommentRequest{AuthorId: 7, BlogId: 4, Text: "a\r\nb"},
		answer:  &blogv1.AddCommentResponse{Comment: thread},
		xml:     "<commentID>31</commentID>", json: `"commentID":31`,
	},
	{
		name:    "a landmark gets a comment",
		form:    "func=addComment&POIID=3&comment=c",
		request: &poiv1.AddCommentRequest{AuthorId: 7, PoiId: 3, Text: "c"},
		answer:  &poiv1.AddCommentResponse{Comment: thread},
		xml:     "<commentID>31</commentID>", json: `"commentID":31`,
	},
	{
		name:    "a comment of an album is replied to",
		form:    "func=replyComment&albumID=12&commentID=31&reply=r",
		request: &albumv1.ReplyToCommentRequest{ActorId: 7, AlbumId: 12, CommentId: 31, Text: "r"},
		answer:  &albumv1.ReplyToCommentResponse{Comment: thread},
	},
	{
		name:    "a comment of a blog is replied to",
		form:    "func=replyComment&blogID=4&commentID=31&reply=r",
		request: &blogv1.ReplyToCommentRequest{ActorId: 7, BlogId: 4, CommentId: 31, Text: "r"},
		answer:  &blogv1.ReplyToCommentResponse{Comment: thread},
	},
	{
		name:    "a comment of a landmark is replied to",
		form:    "func=replyComment&POIID=3&commentID=31&reply=r",
		request: &poiv1.ReplyToCommentRequest{ActorId: 7, PoiId: 3, CommentId: 31, Text: "r"},
		answer:  &poiv1.ReplyToCommentResponse{Comment: thread},
	},
	{
		name:    "a comment of an album is removed",
		form:    "func=removeComment&albumID=12&commentID=31",
		request: &albumv1.RemoveCommentRequest{ActorId: 7, AlbumId: 12, CommentId: 31},
		answer:  &albumv1.RemoveCommentResponse{},
	},
	{
		name:    "a comment of a blog is removed",
		form:    "func=removeComment&blogID=4&commentID=31",
		request: &blogv1.RemoveCommentRequest{ActorId: 7, BlogId: 4, CommentId: 31},
		answer:  &blogv1.RemoveCommentResponse{},
	},
	{
		name:    "a comment of a landmark is removed",
		form:    "func=removeComment&POIID=3&commentID=31",
		request: &poiv1.RemoveCommentRequest{ActorId: 7, PoiId: 3, CommentId: 31},
		answer:  &poiv1.RemoveCommentResponse{},
	},
	{
		name:    "an album is recommended",
		form:    "func=recommend&albumID=12",
		request: &albumv1.RecommendRequest{UserId: 7, AlbumId: 12},
		answer:  &albumv1.RecommendResponse{Score: 2},
		xml:     "<score>2</score>", json: `"score":2`,
	},
	{
		name:    "a blog is recommended",
		form:    "func=recommend&blogID=4",
		request: &blogv1.RecommendRequest{UserId: 7, BlogId: 4},
		answer:  &blogv1.RecommendResponse{Score: 2},
		xml:     "<score>2</score>", json: `"score":2`,
	},
	{
		name:    "a landmark is recommended",
		form:    "func=recommend&POIID=3",
		request: &poiv1.RecommendRequest{UserId: 7, PoiId: 3},
		answer:  &poiv1.RecommendResponse{Score: 2},
		xml:     "<score>2</score>", json: `"score":2`,
	},
	{
		name:    "a recommendation of an album is withdrawn",
		form:    "func=withdrawRecommendation&albumID=12",
		request: &albumv1.WithdrawRecommendationRequest{UserId: 7, AlbumId: 12},
		answer:  &albumv1.WithdrawRecommendationResponse{},
		xml:     "<score>0</score>", json: `"score":0`,
	},
	{
		name:    "a recommendation of a blog is withdrawn",
		form:    "func=withdrawRecommendation&blogID=4",
		request: &blogv1.WithdrawRecommendationRequest{UserId: 7, BlogId: 4},
		answer:  &blogv1.WithdrawRecommendationResponse{},
		xml:     "<score>0</score>", json: `"score":0`,
	},
	{
		name:    "a recommendation of a landmark is withdrawn",
		form:    "func=withdrawRecommendation&POIID=3",
		request: &poiv1.WithdrawRecommendationRequest{UserId: 7, PoiId: 3},
		answer:  &poiv1.WithdrawRecommendationResponse{},
		xml:     "<score>0</score>", json: `"score":0`,
	},
	{
		name:    "a ballot is cast",
		form:    "func=castVote&blogID=4&choice=2",
		request: &blogv1.CastBallotRequest{VoterId: 7, BlogId: 4, Choice: 2},
		answer:  &blogv1.CastBallotResponse{Vote: &blogv1.Vote{Description: "去?", Choices: []*blogv1.Choice{{Description: "山"}, {Description: "海", Votes: 1}}}},
		xml: "<vote><description>去?</description><choices><choice1><description>山</description><votes>0</votes></choice1>" +
			"<choice2><description>海</description><votes>1</votes></choice2></choices></vote>",
		json: `"vote":{"description":"去?","choices":[{"description":"山","votes":0},{"description":"海","votes":1}]}`,
	},
	{
		name: "a blog is posted with a vote, and empty choices behind the last are not sent",
		form: "func=postBlog&voteDescription=%E5%8E%BB%3F&choice2=%E6%B5%B7&choice1=%E5%B1%B1&choice3=&choice21=&" + blogForm,
		request: &blogv1.CreateBlogRequest{
			AuthorId: 7, Type: blogv1.BlogType_BLOG_TYPE_TRAVEL, Location: place, Title: "t", Content: "a\r\nb",
			PostDate: leapDay, Weather: blogv1.Weather_WEATHER_RAINBOW, Vote: &blogv1.NewVote{Description: "去?", Choices: []string{"山", "海"}},
		},
		answer: &blogv1.CreateBlogResponse{Blog: &blogv1.Blog{BlogId: 4, Reward: 10}},
		xml:    "<blogID>4</blogID><reward>10</reward>", json: `"blogID":4,"reward":10`,
	},
	{
		name:    "an album is shown with ids",
		form:    "func=getAlbum&albumID=12&withIDs=TRUE",
		request: &albumv1.GetAlbumRequest{AlbumId: 12},
		answer: &albumv1.GetAlbumResponse{
			Album:    &albumv1.Album{AlbumId: 12, Title: "A", Category: 16, Location: place, Owner: &typev1.Profile{UserId: 9, Name: "o"}, UpdateTime: noon},
			Comments: []*typev1.Comment{thread},
		},
		xml: "<ownerID>9</ownerID><albumTitle>A</albumTitle><category>16</category><Location><lat>25.0339639</lat><lng>121.5644722</lng></Location>" +
			"<ownerName>o</ownerName><ownerIcon></ownerIcon><updateDate><year>2009</year><month>02</month><day>03</day></updateDate><score>0</score>" + threadWithIDsXML,
		json: `"ownerID":9,"albumTitle":"A","category":16,"Location":{"lat":25.0339639,"lng":121.5644722},"ownerName":"o","ownerIcon":"",` +
			`"updateDate":{"year":2009,"month":2,"day":3},"score":0,` + threadWithIDsJSON,
	},
	{
		name:    "a landmark is shown with ids",
		form:    "func=getPOI&POIID=3&withIDs=true",
		request: &poiv1.GetPoiRequest{PoiId: 3},
		answer: &poiv1.GetPoiResponse{
			Poi:    &poiv1.Poi{Name: "101", Category: 1, Location: place, Owner: &typev1.Profile{UserId: 9, Name: "o"}, UpdateTime: noon},
			Photos: []*poiv1.Photo{{PhotoId: 6, PhotoUrl: "b.jpg"}}, Comments: []*typev1.Comment{thread},
		},
		xml: "<ownerID>9</ownerID><name>101</name><category>1</category><Location><lat>25.0339639</lat><lng>121.5644722</lng></Location>" +
			"<ownerName>o</ownerName><ownerIcon></ownerIcon><updateDate><year>2009</year><month>02</month><day>03</day></updateDate><score>0</score>" +
			"<photos><photo1><photoID>6</photoID><description></description><photoPath>b.jpg</photoPath><photo>b.jpg</photo></photo1></photos>" + threadWithIDsXML,
		json: `"ownerID":9,"name":"101","category":1,"Location":{"lat":25.0339639,"lng":121.5644722},"ownerName":"o","ownerIcon":"",` +
			`"updateDate":{"year":2009,"month":2,"day":3},"score":0,` +
			`"photos":[{"photoID":6,"description":"","photoPath":"b.jpg","photo":"b.jpg"}],` + threadWithIDsJSON,
	},
	{
		name:    "a blog is shown with ids",
		form:    "func=getBlog&blogID=4&withIDs=1",
		request: &blogv1.GetBlogRequest{BlogId: 4},
		answer: &blogv1.GetBlogResponse{
			Blog: &blogv1.Blog{
				Author: &typev1.Profile{UserId: 9, Name: "o"}, Type: 1, Location: place, Title: "t", Content: "c", PostDate: leapDay,
				Weather: 7, ZoomLevel: 14, MapType: 1,
			},
			Comments: []*typev1.Comment{thread},
		},
		xml: "<authorID>9</authorID><authorName>o</authorName><authorIcon></authorIcon><type>0_0</type>" +
			"<Location><lat>25.0339639</lat><lng>121.5644722</lng></Location><blogTitle>t</blogTitle><blogContent>c</blogContent>" +
			"<postDate><year>2012</year><month>02</month><day>29</day></postDate><weather>有彩虹</weather><zoomLevel>14</zoomLevel><mapType>1</mapType>" +
			"<score>0</score>" + threadWithIDsXML,
		json: `"authorID":9,"authorName":"o","authorIcon":"","type":"0_0","Location":{"lat":25.0339639,"lng":121.5644722},"blogTitle":"t","blogContent":"c",` +
			`"postDate":{"year":2012,"month":2,"day":29},"weather":"有彩虹","zoomLevel":14,"mapType":1,"score":0,` + threadWithIDsJSON,
	},
}

func TestExactlyOneParentIsNamed(t *testing.T) {
	f := &fakes{answer: always(&albumv1.RecommendResponse{}, nil)}
	h := newEdge(t, f)
	for form, want := range map[string]string{
		"func=recommend":                            "MISSING PARAMETER: albumID, blogID or POIID",
		"func=addPhoto&thumbnail=a":                 "MISSING PARAMETER: albumID or POIID",
		"func=addComment":                           "MISSING PARAMETER: albumID, blogID or POIID; MISSING PARAMETER: comment",
		"func=recommend&albumID=1&blogID=2":         "INVALID PARAMETER: blogID (not with albumID)",
		"func=recommend&POIID=3&albumID=1&blogID=2": "INVALID PARAMETER: blogID (not with albumID); INVALID PARAMETER: POIID (not with albumID)",
		"func=recommend&POIID=3&blogID=2":           "INVALID PARAMETER: POIID (not with blogID)",
		"func=removePhoto&albumID=1&POIID=2":        "INVALID PARAMETER: POIID (not with albumID); MISSING PARAMETER: photoID",
		"func=recommend&albumID=":                   "INVALID PARAMETER: albumID (an integer, 1 to 9007199254740991)",
		"func=recommend&blogID=0":                   "INVALID PARAMETER: blogID (1 to 9007199254740991)",
		"func=recommend&POIID=%FF":                  "INVALID ENCODING: POIID",
		"func=castVote&choice=21":                   "MISSING PARAMETER: blogID; INVALID PARAMETER: choice (1 to 20, a position)",
	} {
		if w := post(h, form); w.Body.String() != failed(want) {
			t.Errorf("%s: got %s\nwant %s", form, w.Body, failed(want))
		}
	}
}

func TestAVoteIsWholeOrFails(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(&blogv1.CreateBlogResponse{}, nil)})
	long := strings.Repeat("a", 201)
	many := "voteDescription=d"
	for _, n := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21") {
		many += "&choice" + n + "=a"
	}
	for vote, want := range map[string]string{
		"voteDescription=d":                                               "MISSING PARAMETER: choice1; MISSING PARAMETER: choice2",
		"voteDescription=d&choice1=a":                                     "MISSING PARAMETER: choice2",
		"voteDescription=d&choice1=a&choice2=b&choice4=":                  "",
		"choice1=a&choice2=b":                                             "MISSING PARAMETER: voteDescription",
		"voteDescription=d&choice1=a&choice2=%FF":                         "INVALID ENCODING: choice2",
		"voteDescription=d&choice1=a&choice4=b":                           "MISSING PARAMETER: choice2; MISSING PARAMETER: choice3",
		"voteDescription=d&choice1=a&choice2=" + long:                     "INVALID PARAMETER: choice2 (1 to 200 characters)",
		"choice1=a&choice2=b&voteDescription=" + strings.Repeat("長", 501): "INVALID PARAMETER: voteDescription (1 to 500 characters)",
		many:                               "INVALID PARAMETER: choice21 (a vote has 2 to 20 choices)",
		strings.Replace(many, "21", "", 1): "",
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
