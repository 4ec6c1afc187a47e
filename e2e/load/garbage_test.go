package load

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	commentv1 "github.com/waybook/waybook/proto/gen/waybook/comment/v1"
	photov1 "github.com/waybook/waybook/proto/gen/waybook/photo/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

var update = flag.Bool("update", false, "rewrite testdata/garbage.txt")

const (
	// garbageFile has the garbage of each operation, as this test last measured it.
	garbageFile = "testdata/garbage.txt"
	// An operation may make by this much more garbage than the file says: runs differ by half of it. Most of what a
	// write makes are copies of pages, whose number depends on what was written before.
	toleranceOfReads, toleranceOfWrites = 1.25, 1.6
)

// The content that the operations work on.
const (
	children   = 10
	albumsOf   = 50
	listedPois = 1000
	prose      = "從捷運站出口右轉，沿著河邊的小路走十分鐘就到了；傍晚的光線最美，記得帶傘。"
)

// garbage is what the program allocates for a request.
type garbage struct{ bytes, allocations float64 }

// TestNoOperationMakesMoreGarbage measures what each operation of the legacy contract allocates. Bytes are no time:
// they are the same on a machine that is slow or busy.
func TestNoOperationMakesMoreGarbage(t *testing.T) {
	var table strings.Builder
	want := readGarbage(t)
	d := startAlone(t)
	d.fill()
	for _, o := range d.operations() {
		before, isKnown := want[o.name]
		if !isKnown && !*update {
			t.Errorf("%s has no line in %s: run this test with -update", o.name, garbageFile)
			continue
		}
		limit := o.tolerance() * before.bytes
		got := d.measure(o, limit)
		entry := fmt.Sprintf("%s: %.0f bytes, %.0f allocations", o.name, got.bytes, got.allocations)
		fmt.Fprintln(&table, entry)
		t.Log(entry)
		if got.bytes > limit && !*update {
			t.Errorf("%s: %.0f bytes for each request; it was %.0f, see %s", o.name, got.bytes, before.bytes, garbageFile)
		}
	}
	if *update {
		if err := os.WriteFile(garbageFile, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func readGarbage(t *testing.T) map[string]garbage {
	t.Helper()
	text, err := os.ReadFile(garbageFile)
	if err != nil && !(*update && errors.Is(err, os.ErrNotExist)) {
		t.Fatal(err)
	}
	known := map[string]garbage{}
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndex(line, ": ")
		var of garbage
		if _, err := fmt.Sscanf(line[max(at, 0):], ": %f bytes, %f allocations", &of.bytes, &of.allocations); err != nil {
			t.Fatalf("%s: %q: %v", garbageFile, line, err)
		}
		known[line[:at]] = of
	}
	return known
}

// deployment is a running Waybook.
type deployment struct {
	t       *testing.T
	process *launch.Process

	clients.Clients
	owner            int64
	client           *waybooktest.Client
	bare, full       string
	entry, poi, post string
}

func startAlone(t *testing.T) *deployment {
	p := launch.Start(t, binary, t.TempDir(), "-demo=false", "-pprof", "-user-writes=0", "-comments-per-minute=0", "-comments-per-user=0")
	services := launch.Dial(t, p.GRPC)
	d := &deployment{t: t, process: p, Clients: clients.Of(services, services, services, services), owner: launch.CreateUser(t, services, "小旅人")}
	opened, err := d.Account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: d.owner})
	waybooktest.OK(d.t, err)
	d.client = waybooktest.ClientAt(t, p.HTTP).With(d.owner, opened.GetToken())
	d.poi = fmt.Sprint(launch.CreatePoisOf(t, services, d.owner, category, "太魯閣國家公園遊客中心", listedPois)[0])
	return d
}

const addAlbum = "func=addAlbum&albumTitle=台北101與象山&category=5&lat=25.034&lng=121.5645"

const postBlog = "func=postBlog&type=0_1&blogTitle=河岸散步&blogContent=" + prose + prose + "&year=2026&month=2&day=28&lat=25.034&lng=121.5645&weather=有彩虹"

// fill creates the content.
func (d *deployment) fill() {
	for range albumsOf {
		d.bare = d.made(addAlbum, "albumID")
	}
	d.full, d.entry, d.post = d.made(addAlbum, "albumID"), d.made(postBlog, "blogID"), d.made(postBlog, "blogID")
	ctx := d.t.Context()
	filled := map[typev1.Kind]int64{
		typev1.Kind_KIND_ALBUM: number(d.t, d.full), typev1.Kind_KIND_BLOG: number(d.t, d.entry), typev1.Kind_KIND_POI: number(d.t, d.poi),
	}
	for n := range children {
		for kind, id := range filled {
			_, err := d.Comment.AddComment(ctx, waybooktest.On(kind, id, &commentv1.AddCommentRequest{AuthorId: d.owner, Text: prose}))
			waybooktest.OK(d.t, err)
			photo := &photov1.AddPhotoRequest{ActorId: d.owner, Url: fmt.Sprintf("upload/photo/%d_t.jpg", n)}
			switch kind {
			case typev1.Kind_KIND_BLOG:
				continue
			case typev1.Kind_KIND_ALBUM:
				photo.Description = prose
			}
			_, err = d.Photo.AddPhoto(ctx, waybooktest.On(kind, id, photo))
			waybooktest.OK(d.t, err)
		}
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// operation is an operation of the legacy contract, with its form. A form with %d gets another number each
// time, and one with %s the identifier of a new album or entry.
type operation struct {
	name, form string
	// fresh is the form that creates what the operation deletes.
	fresh, element string
	times          int
}

func (o operation) tolerance() float64 {
	if strings.HasPrefix(o.name, "get") {
		return toleranceOfReads
	}
	return toleranceOfWrites
}

func (d *deployment) operations() []operation {
	const reads, writes = 400, 40
	return []operation{
		{name: "getAlbum", form: "func=getAlbum&albumID=" + d.bare, times: reads},
		{name: "getAlbum with 10 photos and 10 comments", form: "func=getAlbum&albumID=" + d.full, times: reads},
		{name: "getBlog with 10 comments", form: "func=getBlog&blogID=" + d.entry, times: reads},
		{name: "getPOI with 10 photos and 10 comments", form: "func=getPOI&POIID=" + d.poi, times: reads},
		{name: "getUserAlbumList of 51 albums", form: fmt.Sprintf("func=getUserAlbumList&userID=%d", d.owner), times: reads},
		{name: "getCategoryPOIList of 1000 landmarks", form: listQuery, times: reads},
		{name: "addAlbum", form: addAlbum, times: writes},
		{name: "updateAlbum", form: "func=updateAlbum&albumTitle=%d&albumID=" + d.full, times: writes},
		{name: "updateAlbum that deletes", form: "func=updateAlbum&delete=true&albumID=%s", fresh: addAlbum, element: "albumID", times: writes},
		{name: "postBlog", form: postBlog, times: writes},
		{name: "updateBlog", form: strings.NewReplacer("postBlog", "updateBlog", "河岸散步", "%d").Replace(postBlog) + "&blogID=" + d.post, times: writes},
		{name: "updateBlog that deletes", form: "func=updateBlog&delete=true&blogID=%s", fresh: postBlog, element: "blogID", times: writes},
	}
}

// The rounds in which an operation is measured: few to write the file, many before it is found too expensive.
// Sweeps and other work of the program can only add to a round, and they add more where rounds take longer.
const fewRounds, manyRounds = 4, 20

// measure does an operation many times, and returns what the program allocated for each, in the cheapest round
// so far once that is within limit. Reading the metrics allocates, too: that is measured by reading them twice.
func (d *deployment) measure(o operation, limit float64) garbage {
	least, reading := garbage{math.Inf(1), math.Inf(1)}, garbage{math.Inf(1), math.Inf(1)}
	each := func(all, reading float64) float64 { return math.Round((all - reading) / float64(o.times)) }
	for round := range manyRounds {
		isEnough := each(least.bytes, reading.bytes) <= limit
		if *update {
			isEnough = round == fewRounds
		}
		if isEnough && round > 0 {
			break
		}
		forms := make([]string, o.times)
		for i := range forms {
			switch forms[i] = o.form; {
			case o.fresh != "":
				forms[i] = fmt.Sprintf(o.form, d.made(o.fresh, o.element))
			case strings.Contains(o.form, "%d"):
				forms[i] = fmt.Sprintf(o.form, round*o.times+i)
			}
		}
		first, before := d.allocated(), d.allocated()
		for _, form := range forms {
			d.client.Post(form).MustSucceed(d.t)
		}
		after := d.allocated()
		reading.bytes = min(reading.bytes, before.bytes-first.bytes)
		reading.allocations = min(reading.allocations, before.allocations-first.allocations)
		least.bytes = min(least.bytes, after.bytes-before.bytes)
		least.allocations = min(least.allocations, after.allocations-before.allocations)
	}
	return garbage{each(least.bytes, reading.bytes), each(least.allocations, reading.allocations)}
}

// allocated returns what the program has allocated since its start. A processor adds what it allocated to
// the counters when a span is full, or when garbage is collected: so that is done first.
func (d *deployment) allocated() garbage {
	launch.Get(d.t, "http://"+d.process.Admin+"/debug/pprof/heap?gc=1")
	bytes, hasBytes := launch.Metric(d.t, d.process.Admin, "go_memstats_alloc_bytes_total")
	allocations, hasAllocations := launch.Metric(d.t, d.process.Admin, "go_memstats_mallocs_total")
	if !hasBytes || !hasAllocations {
		d.t.Fatal("the metrics have no allocations")
	}
	return garbage{bytes, allocations}
}

// made sends a form that creates something, and returns its identifier.
func (d *deployment) made(form, element string) string {
	d.t.Helper()
	return d.client.Post(form).MustSucceed(d.t).Text(element)
}
