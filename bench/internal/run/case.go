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
			method: poiMethods + "ListPois", reply: &poiv1.ListPoisResponse{},
			// One page has all landmarks of a small store.
			request: &poiv1.ListPoisRequest{Category: listCategory, View: typev1.View_VIEW_SUMMARY, PageSize: SmallStore},
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
	return names
}

// The names of cases that other code refers to.
const (
	bareAlbum = "getAlbum"
	fullAlbum = "getAlbum-children"
	longList  = "getCategoryPOIList"
	addsAlbum = "addAlbum"
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

// wantJSON appears near the start of a successful reply of the gateway.
const wantJSON = `{"`

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
	p50, p99         = "p50 ms", "p99 ms"
)

// closed runs a turn in a closed loop, at the maximum throughput of the contender, and adds its figures to a
// row: replies per second, and what a reply costs.
func (c contender) closed(ctx context.Context, connections int, duration time.Duration, to *report.Row) (done load.Result, err error) {
	used, err := process.Measure(c.serves, func() (err error) {
		done, err = load.Closed(ctx, c.open, connections, duration)
		return err
	})
	n := float64(len(done.Latencies) + connections) // including the uncounted first request of each connection
	to.Add(repliesPerSecond, done.Rate())
	to.Add(serverCPU, micros(used.CPU)/n)
	to.Add("in front", micros(used.Front)/n)
	to.Add("client", micros(used.Client)/n)
	if used.Allocations > 0 {
		to.Add("allocs", used.Allocations/n)
		to.Add("kB alloc", used.AllocatedBytes/n/1e3)
	}
	return done, err
}

// rateConnections is the maximum number of requests in flight at a fixed rate.
const rateConnections = 64

// atRate runs a turn in an open loop, at a fixed rate, and adds the latencies and the CPU time to a row.
func (c contender) atRate(ctx context.Context, rate float64, duration time.Duration, to *report.Row) error {
	var done load.Result
	used, err := process.Measure(c.serves, func() (err error) {
		done, err = load.AtRate(ctx, c.open, rateConnections, rate, duration)
		return err
	})
	to.Add("at /s", rate)
	to.Add(serverCPU, micros(used.CPU)/float64(len(done.Latencies)))
	addLatencies(to, done.Latencies)
	to.Add("sent late, ms", millis(done.Lateness.Quantile(0.5)))
	return err
}

func addLatencies(to *report.Row, latencies load.Latencies) {
	to.Add(p50, millis(latencies.Quantile(0.5)))
	to.Add(p99, millis(latencies.Quantile(0.99)))
}

// addMemory adds the memory of a process to a row.
func addMemory(to *report.Row, p *process.Process) error {
	memory, err := p.Memory()
	if err != nil {
		return err
	}
	to.Add("MiB own", memory.Own)
	to.Add("MiB in all", memory.All())
	return nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
