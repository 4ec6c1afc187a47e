package run

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/bench/internal/load"
	"github.com/waybook/waybook/bench/internal/process"
	"github.com/waybook/waybook/bench/internal/report"
	"github.com/waybook/waybook/bench/internal/rival"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
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
	// connections is the number of connections in the closed loop.
	connections int
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
			name: "getAlbum", form: readForm("getAlbum", "albumID", c.bareAlbum), connections: manyConnections,
			service: albumService,
			method:  albumMethods + "GetAlbum", request: &albumv1.GetAlbumRequest{AlbumId: c.bareAlbum},
			reply: &albumv1.GetAlbumResponse{},
		},
		{
			name: "getAlbum-children", form: readForm("getAlbum", "albumID", c.fullAlbum),
			connections: manyConnections, service: albumService,
			method: albumMethods + "GetAlbum", request: &albumv1.GetAlbumRequest{AlbumId: c.fullAlbum},
			reply: &albumv1.GetAlbumResponse{},
		},
		{
			name: longList, form: readForm("getCategoryPOIList", "category", int64(listCategory)),
			connections: fewConnections, service: poiService,
			method: poiMethods + "ListPois", reply: &poiv1.ListPoisResponse{},
			request: &poiv1.ListPoisRequest{Category: listCategory, View: typev1.View_VIEW_SUMMARY,
				PageSize: listedLandmarks},
		},
		{
			name: addsAlbum, form: addAlbumForm(), writes: true, connections: manyConnections, service: albumService,
			method: albumMethods + "CreateAlbum", request: albumBy(c.owner), reply: &albumv1.CreateAlbumResponse{},
		},
		{
			name: "postBlog", form: postBlogForm(c.owner), writes: true, connections: manyConnections,
			service: blogService,
			method:  blogMethods + "CreateBlog", request: blogBy(c.owner), reply: &blogv1.CreateBlogResponse{},
		},
	}
}

// The names of cases that other code refers to.
const (
	longList  = "getCategoryPOIList"
	addsAlbum = "addAlbum"
)

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
	return names
}

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
		"func": {"postBlog"}, "type": {"0_0"}, "weather": {"晴空萬里"}, "blogTitle": {blog.GetTitle()},
		"blogContent": {blog.GetContent()},
		"lat":         {fmt.Sprint(blog.GetLocation().GetLat())}, "lng": {fmt.Sprint(blog.GetLocation().GetLng())},
		"year": {fmt.Sprint(date.GetYear())}, "month": {fmt.Sprint(date.GetMonth())},
		"day": {fmt.Sprint(date.GetDay())},
	}
}

// wantXML appears near the start of a successful reply of the edge.
const wantXML = "<status>SUCCESS</status>"

// edgeRequest returns the request of the case to the edge of a deployment.
func (c testCase) edgeRequest(d *deployment) load.HTTP {
	request := get11("/API.php?" + c.form.Encode())
	if c.writes {
		body := c.form.Encode()
		request = fmt.Appendf(nil, "POST /API.php HTTP/1.1\r\nHost: bench\r\nCookie: %s\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", d.content.cookie,
			len(body), body)
	}
	return load.HTTP{Address: d.edge.Addresses["edge"], Request: request, Want: wantXML}
}

// gatewayRequest returns the request of the case to a gateway.
func (c testCase) gatewayRequest(gateway *process.Process) (load.HTTP, error) {
	body, err := protojson.Marshal(c.request)
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s",
		c.method, len(body), body)
	return load.HTTP{Address: gateway.Addresses["http"], Request: request, Want: `{"`}, err
}

// baselineRequest returns the request of the case to the HTTP baseline.
func (c testCase) baselineRequest(baselines *process.Process) load.HTTP {
	return load.HTTP{Address: baselines.Addresses["http"], Request: get11(rival.Path(c.name)), Want: wantXML}
}

// get11 returns an encoded GET request.
func get11(path string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: bench\r\n\r\n", path)
}

// contender is one of the compared ways to serve a case.
type contender struct {
	name string
	open load.Opener
	// serves are the processes that take part in serving, the one in front first.
	serves []*process.Process
}

// The columns of the tables that other code refers to.
const (
	repliesPerSecond = "replies/s"
	serverCPU        = "CPU µs: servers"
)

// closed runs a turn in a closed loop, at the maximum throughput of the contender, and adds its
// figures to a row: replies per second, and what a reply costs. It returns the number of replies.
func (c contender) closed(ctx context.Context, connections int, duration time.Duration,
	to *report.Row) (replies float64, err error) {
	var done load.Result
	used, err := process.Measure(c.serves, func() (err error) {
		done, err = load.Closed(ctx, c.open, connections, duration)
		return err
	})
	replies = float64(len(done.Latencies) + connections) // including the uncounted first request of each connection
	to.Add(repliesPerSecond, done.Rate())
	to.Add(serverCPU, micros(used.CPU)/replies)
	to.Add("in front", micros(used.Front)/replies)
	to.Add("client", micros(used.Client)/replies)
	to.Add("allocs", used.Allocations/replies)
	to.Add("kB alloc", used.AllocatedBytes/replies/1e3)
	return replies, err
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
