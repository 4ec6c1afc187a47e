package run

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// testCase is a request that every contender serves.
type testCase struct {
	name string
	// form are the parameters for the edge. A case that writes sends them by POST, with
	// the session cookie.
	form   url.Values
	writes bool
	// service is the called service and method the full name of the RPC.
	service, method string
	request, reply  proto.Message
	// streams is true if the service replies with a stream of messages.
	streams bool
	// connections is the number of connections in the closed loop.
	connections int
	// prepare, unless nil, runs before each turn.
	prepare func(context.Context) error
}

const (
	albumMethods = "/waybook.album.v1.AlbumService/"
	blogMethods  = "/waybook.blog.v1.BlogService/"
	poiMethods   = "/waybook.poi.v1.PoiService/"
)

// manyConnections is enough to keep all cores of a small machine busy. Long lists need fewer.
const (
	manyConnections = 16
	fewConnections  = 4
)

// cases returns the cases, which are the same in every deployment. Those that write are last.
func cases(c content) []testCase {
	return []testCase{
		{
			name: bareAlbum, form: readForm("getAlbum", "albumID", c.bareAlbum), connections: manyConnections, service: albumService,
			method: albumMethods + "GetAlbum", request: &albumv1.GetAlbumRequest{AlbumId: c.bareAlbum}, reply: &albumv1.GetAlbumResponse{},
		},
		{
			name: fullAlbum, form: readForm("getAlbum", "albumID", c.fullAlbum), connections: manyConnections, service: albumService,
			method: albumMethods + "GetAlbum", request: &albumv1.GetAlbumRequest{AlbumId: c.fullAlbum}, reply: &albumv1.GetAlbumResponse{},
		},
		{
			name: longList, form: readForm("getCategoryPOIList", "category", int64(listCategory)), connections: fewConnections, service: poiService,
			method: poiMethods + "StreamPois", request: &poiv1.StreamPoisRequest{Category: listCategory}, reply: &poiv1.StreamPoisResponse{}, streams: true,
		},
		{
			name: addsAlbum, form: addAlbumForm(), writes: true, connections: manyConnections, service: albumService,
			method: albumMethods + "CreateAlbum", request: albumBy(c.owner), reply: &albumv1.CreateAlbumResponse{},
		},
		{
			name: "postBlog", form: postBlogForm(c.owner), writes: true, connections: manyConnections, service: blogService,
			method: blogMethods + "CreateBlog", request: blogBy(c.owner), reply: &blogv1.CreateBlogResponse{},
		},
	}
}

// caseNamed returns the case with a name.
func caseNamed(c content, name string) testCase {
	list := cases(c)
	return list[slices.IndexFunc(list, func(each testCase) bool { return each.name == name })]
}

// CaseNames returns the names of all cases.
func CaseNames() []string {
	var names []string
	for _, each := range cases(content{}) {
		names = append(names, each.name)
	}
	return append(names, blogWithComments, fullLandmark, shortList)
}

// The names of cases that other code refers to.
const (
	bareAlbum = "getAlbum"
	fullAlbum = "getAlbum-children"
	longList  = "getCategoryPOIList"
	addsAlbum = "addAlbum"
	// Only the section piwigo has these.
	blogWithComments = "getBlog-comments"
	fullLandmark     = "getPOI-children"
	shortList        = "getUserAlbumList"
)

func readForm(function, name string, id int64) url.Values {
	return url.Values{"func": {function}, name: {fmt.Sprint(id)}}
}

func addAlbumForm() url.Values {
	album := albumBy(0)
	return url.Values{
		"func": {"addAlbum"}, "albumTitle": {album.GetTitle()}, "category": {fmt.Sprint(int(album.GetCategory()))},
		"lat": {fmt.Sprint(album.GetLocation().GetLat())}, "lng": {fmt.Sprint(album.GetLocation().GetLng())},
	}
}

func postBlogForm(author int64) url.Values {
	blog := blogBy(author)
	date := blog.GetPostDate()
	return url.Values{
		"func": {"postBlog"}, "type": {"0_0"}, "weather": {"晴空萬里"}, "blogTitle": {blog.GetTitle()}, "blogContent": {blog.GetContent()},
		"lat": {fmt.Sprint(blog.GetLocation().GetLat())}, "lng": {fmt.Sprint(blog.GetLocation().GetLng())},
		"year": {fmt.Sprint(date.GetYear())}, "month": {fmt.Sprint(date.GetMonth())}, "day": {fmt.Sprint(date.GetDay())},
	}
}

// wantXML appears near the start of a successful reply of the edge.
const wantXML = "<status>SUCCESS</status>"

// wantJSON returns what appears near the start of a successful reply of the gateway.
func (c testCase) wantJSON() string {
	if c.streams {
		return `{"result"`
	}
	return `{"`
}

// edgeRequest returns the encoded request of the case to the edge.
func (c testCase) edgeRequest(cookie string) []byte {
	if !c.writes {
		return get11("/API.php?" + c.form.Encode())
	}
	body := c.form.Encode()
	return fmt.Appendf(nil, "POST /API.php HTTP/1.1\r\nHost: bench\r\nCookie: %s\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", cookie, len(body), body)
}

// gatewayRequest returns the encoded request of the case to the gateway.
func (c testCase) gatewayRequest() ([]byte, error) {
	body, err := protojson.Marshal(c.request)
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		c.method, len(body), body), err
}

// get11 returns an encoded GET request.
func get11(path string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", path)
}
