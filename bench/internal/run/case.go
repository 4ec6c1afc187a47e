package run

import (
	"fmt"
	"net/url"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/bench/internal/baseline"
	"github.com/waybook/waybook/bench/internal/content"
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
	service        service
	method         string
	request, reply proto.Message
	// streams is true if the service replies with a stream of messages.
	streams bool
	// connections is the number of connections in the closed loop.
	connections int
	// wantJSON appears near the start of a successful reply of the gateway.
	wantJSON string
}

// service is one of the services that the cases call.
type service int

const (
	albumService service = iota
	blogService
	poiService
)

const (
	albumMethods = "/waybook.album.v1.AlbumService/"
	blogMethods  = "/waybook.blog.v1.BlogService/"
	poiMethods   = "/waybook.poi.v1.PoiService/"
)

// manyConnections is enough to keep all cores of a small machine busy.
const manyConnections = 16

// cases returns the cases, which are the same in every deployment. The list of landmarks uses
// fewer connections, because its replies are large.
func cases(c content.Content) []testCase {
	return []testCase{
		{
			name: bareAlbum, form: readForm("getAlbum", "albumID", c.BareAlbum), connections: manyConnections,
			service: albumService, method: albumMethods + "GetAlbum", wantJSON: "album",
			request: &albumv1.GetAlbumRequest{AlbumId: c.BareAlbum}, reply: &albumv1.GetAlbumResponse{},
		},
		{
			name: fullAlbum, form: readForm("getAlbum", "albumID", c.FullAlbum), connections: manyConnections,
			service: albumService, method: albumMethods + "GetAlbum", wantJSON: "album",
			request: &albumv1.GetAlbumRequest{AlbumId: c.FullAlbum}, reply: &albumv1.GetAlbumResponse{},
		},
		{
			name: "getBlog", form: readForm("getBlog", "blogID", c.Blog), connections: manyConnections,
			service: blogService, method: blogMethods + "GetBlog", wantJSON: "blog",
			request: &blogv1.GetBlogRequest{BlogId: c.Blog}, reply: &blogv1.GetBlogResponse{},
		},
		{
			name: "getPOI", form: readForm("getPOI", "POIID", c.Poi), connections: manyConnections,
			service: poiService, method: poiMethods + "GetPoi", wantJSON: "poi",
			request: &poiv1.GetPoiRequest{PoiId: c.Poi}, reply: &poiv1.GetPoiResponse{},
		},
		{
			name: "addAlbum", form: addAlbumForm(), writes: true, connections: manyConnections,
			service: albumService, method: albumMethods + "CreateAlbum", wantJSON: "album",
			request: content.NewAlbum(c.Owner), reply: &albumv1.CreateAlbumResponse{},
		},
		{
			name: "postBlog", form: postBlogForm(c.Owner), writes: true, connections: manyConnections,
			service: blogService, method: blogMethods + "CreateBlog", wantJSON: "blog",
			request: content.NewBlog(c.Owner), reply: &blogv1.CreateBlogResponse{},
		},
		{
			name: "getUserAlbumList", form: readForm("getUserAlbumList", "userID", c.Lister), connections: manyConnections,
			service: albumService, method: albumMethods + "StreamAlbums", streams: true, wantJSON: "albums",
			request: &albumv1.StreamAlbumsRequest{OwnerId: c.Lister}, reply: &albumv1.StreamAlbumsResponse{},
		},
		{
			name: longList, form: readForm("getCategoryPOIList", "category", int64(content.ListCategory)), connections: 4,
			service: poiService, method: poiMethods + "StreamPois", streams: true, wantJSON: "pois",
			request: &poiv1.StreamPoisRequest{Category: content.ListCategory}, reply: &poiv1.StreamPoisResponse{},
		},
	}
}

// caseNamed returns the case with a name.
func caseNamed(c content.Content, name string) testCase {
	list := cases(c)
	return list[slices.IndexFunc(list, func(each testCase) bool { return each.name == name })]
}

// CaseNames returns the names of all cases.
func CaseNames() []string {
	var names []string
	for _, each := range cases(content.Content{}) {
		names = append(names, each.name)
	}
	return names
}

// The names of cases that other code refers to.
const (
	bareAlbum = "getAlbum"
	fullAlbum = "getAlbum-children"
	longList  = "getCategoryPOIList"
)

func readForm(function, name string, id int64) url.Values {
	return url.Values{"func": {function}, name: {fmt.Sprint(id)}}
}

func addAlbumForm() url.Values {
	album := content.NewAlbum(0)
	return url.Values{
		"func": {"addAlbum"}, "albumTitle": {album.GetTitle()}, "category": {fmt.Sprint(int(album.GetCategory()))},
		"lat": {fmt.Sprint(album.GetLocation().GetLat())}, "lng": {fmt.Sprint(album.GetLocation().GetLng())},
	}
}

func postBlogForm(author int64) url.Values {
	blog := content.NewBlog(author)
	date := blog.GetPostDate()
	return url.Values{
		"func": {"postBlog"}, "type": {"0_0"}, "weather": {"晴空萬里"}, "blogTitle": {blog.GetTitle()}, "blogContent": {blog.GetContent()},
		"lat": {fmt.Sprint(blog.GetLocation().GetLat())}, "lng": {fmt.Sprint(blog.GetLocation().GetLng())},
		"year": {fmt.Sprint(date.GetYear())}, "month": {fmt.Sprint(date.GetMonth())}, "day": {fmt.Sprint(date.GetDay())},
	}
}

// wantXML appears near the start of a successful reply of the edge.
const wantXML = "<status>SUCCESS</status>"

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

// baselineRequest returns the encoded request of the case to the HTTP baseline.
func (c testCase) baselineRequest() []byte {
	return get11(baseline.Path(c.name))
}

// get11 returns an encoded GET request.
func get11(path string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", path)
}
