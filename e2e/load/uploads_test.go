package load

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/waybooktest"
)

// uploaders is how many clients send photos at a time: as many as an address may.
const uploaders = 8

// photosVariable is how many photos they send together, such as 1000.
const photosVariable = "WAYBOOK_PHOTOS"

// Clients that send photos of phones take the edge no memory beyond the manifests, and the time of others only as far
// as they share the machine: all programs and clients run on it. What it measures is printed:
//
//	WAYBOOK_LONG=1 WAYBOOK_PHOTOS=1000 go test ./load -run TestUploadsLeaveTheEdgeItsMemory -v
func TestUploadsLeaveTheEdgeItsMemory(t *testing.T) {
	longform.Only(t)
	count := 24
	if given := os.Getenv(photosVariable); given != "" {
		var err error
		if count, err = strconv.Atoi(given); err != nil {
			t.Fatal(err)
		}
	}
	binaries := t.TempDir()
	if err := launch.Build(binaries, launch.AsShipped, launch.Programs()...); err != nil {
		t.Fatal(err)
	}
	services := launch.StartServices(t, binaries, t.TempDir())
	visitors := newVisitors(t, services)
	edge := launch.StartEdge(t, binaries, services, []string{"GOMEMLIMIT=" + goMemory, "GOMAXPROCS=2"}, "-user-writes=0")
	photo := phonePhoto(t)
	const each = 10 * time.Second
	visitors.visit(t, edge, each/2) // warm
	normal := visitors.visit(t, edge, each)
	before := launch.MemoryOf(t, edge)
	launch.ForgetPeak(t, edge)
	began := map[string]time.Duration{"edge": processorTime(t, edge), "album": processorTime(t, services["album"])}

	var group sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(count))
	start := time.Now()
	for number := range uploaders {
		group.Go(func() {
			client := waybooktest.ClientAt(t, edge.HTTP).WithCookie(visitors.cookies[number])
			album := client.Post("func=addAlbum&albumTitle=x&category=5&lat=25&lng=121").MustSucceed(t).Text("albumID")
			for left.Add(-1) >= 0 {
				if reply := sendPhoto(client, album, photo); !reply.Succeeded() {
					t.Errorf("got %d %s", reply.Code, reply.Body)
				}
			}
		})
	}
	var during *result
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		during = visitors.visit(t, edge, each)
	}()
	group.Wait()
	took := time.Since(start)
	<-ended

	perPhoto := func(name string, p *launch.Process) time.Duration {
		return ((processorTime(t, p) - began[name]) / time.Duration(count)).Round(time.Millisecond)
	}
	memory := launch.MemoryOf(t, edge)
	t.Logf("%d photos of %.1f MB by %d clients: %.1f/s; edge %.0f MiB before, peak %.0f MiB; "+
		"processor per photo: edge %v, album %v; others' p99 %v before, %v meanwhile",
		count, float64(len(photo))/1e6, uploaders, float64(count)/took.Seconds(), before.Anonymous+before.File, memory.Peak,
		perPhoto("edge", edge), perPhoto("album", services["album"]), normal.quantile(0.99), during.quantile(0.99))
	if memory.Peak > mostMemory {
		t.Errorf("%.0f MiB of memory, limit %d", memory.Peak, mostMemory)
	}
}

// phonePhoto returns a JPEG of 12 megapixels and about 5 MB.
func phonePhoto(t *testing.T) []byte {
	t.Helper()
	m := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	random := rand.New(rand.NewPCG(1, 2))
	for _, plane := range [][]byte{m.Y, m.Cb, m.Cr} {
		for i := range plane {
			plane[i] = byte(i/4000*256/3000) ^ byte(random.Uint32()&15)
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, m, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// sendPhoto adds a photo to an album. Its body is not one string in memory.
func sendPhoto(client *waybooktest.Client, album string, photo []byte) waybooktest.Reply {
	const boundary = "----of-the-test-7d1c4f"
	body := io.MultiReader(
		strings.NewReader("--"+boundary+"\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"IMG_1.jpg\"\r\n\r\n"),
		bytes.NewReader(photo), strings.NewReader("\r\n--"+boundary+"--\r\n"))
	request := client.Request(http.MethodPost, "func=addPhoto&albumID="+album, body)
	request.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	return client.Send(request)
}

// processorTime returns the time that a process has spent on processors.
func processorTime(t *testing.T, p *launch.Process) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		t.Skip("SKIPPED: this system has no /proc/<pid>/stat")
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int
	for _, field := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
