package edge

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/internal/platform/admission"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const readAlbum = "func=getAlbum&albumID=1"

// waiting signals each request on inside and answers once leave is closed.
func waiting(inside chan<- struct{}, leave <-chan struct{}) func(context.Context, proto.Message) (proto.Message, error) {
	return func(context.Context, proto.Message) (proto.Message, error) {
		inside <- struct{}{}
		<-leave
		return &albumv1.GetAlbumResponse{}, nil
	}
}

// expectBusy checks that w rejects a request by a concurrency limit.
func expectBusy(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" ||
		w.Header().Get("X-Waybook-Reason") != "SERVICE_BUSY" || w.Body.String() != failed("SERVICE BUSY") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestARequestAboveTheConcurrencyLimitIsRejectedWithoutACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inside, leave := make(chan struct{}), make(chan struct{})
		f := &fakes{answer: waiting(inside, leave)}
		var load Load
		h := newEdge(t, f, func(c *Config) {
			c.Load.Requests = admission.New(admission.Limits{Slots: 1, Queue: 1, Wait: longestWait})
			load = c.Load
		})
		first := make(chan *httptest.ResponseRecorder)
		go func() { first <- get(h, readAlbum) }()
		<-inside
		f.called()
		expectBusy(t, get(h, readAlbum)) // after waiting in the queue
		gone, goAway := context.WithCancel(t.Context())
		goAway()
		func() {
			defer func() {
				if p := recover(); p != http.ErrAbortHandler {
					t.Errorf("a client that had left got an answer: %v", p)
				}
			}()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, Path+"?"+readAlbum, nil))
		}()
		if got := f.called(); len(got) > 0 {
			t.Errorf("called %v", got)
		}
		close(leave)
		if w := <-first; w.Code != 200 {
			t.Errorf("the first request got %d", w.Code)
		}
		if got := load.Requests.Stats(); got != (admission.Stats{Refused: 1}) {
			t.Errorf("%+v", got)
		}
	})
}

func TestReadsThatAreUnderWayShareMemoryAndLeaveRoomForWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inside, leave := make(chan struct{}), make(chan struct{})
		var load Load
		h := newEdge(t, &fakes{answer: waiting(inside, leave)}, func(c *Config) {
			c.Load = newLoad(&Flags{MaxRequests: 10})
			c.Load.ReplyBytes = admission.New(admission.Limits{Slots: readBytes + writeBytes, Queue: 10, Wait: longestWait})
			load = c.Load
		})
		replies := make(chan *httptest.ResponseRecorder)
		go func() { replies <- get(h, readAlbum) }()
		<-inside
		expectBusy(t, get(h, readAlbum)) // after waiting for memory
		go func() { replies <- post(h, "func=updateAlbum&albumID=1&albumTitle=x") }()
		<-inside
		close(leave)
		for range 2 {
			if w := <-replies; w.Code != 200 {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		}
		if got := load.ReplyBytes.Stats(); got != (admission.Stats{Refused: 1}) || load.Requests.Stats().Inside != 0 {
			t.Errorf("%+v, %+v", got, load.Requests.Stats())
		}
	})
}

// panicking is a client that panics.
type panicking struct{ albumv1.AlbumServiceClient }

func (panicking) GetAlbum(context.Context, *albumv1.GetAlbumRequest, ...grpc.CallOption) (*albumv1.GetAlbumResponse, error) {
	panic("boom")
}

func TestAPanicReleasesTheConcurrencyLimit(t *testing.T) {
	var load Load
	h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}, func(c *Config) {
		c.Load = newLoad(&Flags{MaxRequests: 1, MaxLongReplies: 1})
		load = c.Load
		c.Album = panicking{}
	})
	for range 3 {
		if w := get(h, "func=getAlbum&albumID=1"); w.Body.String() != failed("INTERNAL ERROR") {
			t.Errorf("got %s", w.Body)
		}
	}
	if got := load.Requests.Stats(); got != (admission.Stats{}) {
		t.Errorf("%+v", got)
	}
}

func TestALongReplyLeavesTheLimitOfRequests(t *testing.T) {
	more := make(chan struct{})
	f := &fakes{
		answer: always(&albumv1.GetAlbumResponse{}, nil),
		pois:   pausing(4, more),
	}
	var load Load
	server := serve(t, f, func(c *Config) {
		c.Load = newLoad(&Flags{MaxRequests: 1, MaxLongReplies: 1})
		load = c.Load
	})
	long := fetch(t, http.MethodGet, server.URL+listPois)
	first := make([]byte, 1)
	if _, err := io.ReadFull(long.Body, first); err != nil {
		t.Fatal(err)
	}
	if short := fetch(t, http.MethodGet, server.URL+Path+"?"+readAlbum); short.StatusCode != 200 {
		t.Errorf("a short reply during a long one: %d", short.StatusCode)
	}
	second := fetch(t, http.MethodGet, server.URL+listPois)
	if body := readAll(t, second.Body); second.StatusCode != 503 || body != failed("SERVICE BUSY") || second.Header.Get("Retry-After") != "1" {
		t.Errorf("a second long reply: %d %s", second.StatusCode, body)
	}
	close(more)
	if got := strings.Count(readAll(t, long.Body), "<name>"); got != 2500 {
		t.Errorf("%d landmarks", got)
	}
	server.Close() // waits for the handlers
	if got := load.LongReplyBytes.Stats(); got.Inside != 0 || got.Refused == 0 || load.Requests.Stats().Inside != 0 {
		t.Errorf("%+v, %+v", got, load.Requests.Stats())
	}
}

func TestFewRepliesAreCompressedAtATime(t *testing.T) {
	more := make(chan struct{})
	f := &fakes{
		answer: always(&albumv1.GetAlbumResponse{Album: &albumv1.Album{Title: strings.Repeat("t", zipAt)}}, nil),
		pois:   pausing(4, more),
	}
	load := Load{Zips: admission.New(admission.Limits{Slots: 1})}
	server := serve(t, f, func(c *Config) { c.Load = load })
	get := func(path, encoding string) *http.Response {
		request, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "gzip")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		if got := response.Header.Get("Content-Encoding"); got != encoding {
			t.Errorf("%s: encoding %q, want %q", path, got, encoding)
		}
		return response
	}
	first := get(listPois, "gzip")
	second := get(listPois, "") // the list before is still being sent
	get(Path+"?"+readAlbum, "")
	close(more)
	zipped, err := gzip.NewReader(first.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []io.Reader{zipped, second.Body} {
		if got := strings.Count(readAll(t, body), "<name>"); got != 2500 {
			t.Errorf("%d landmarks", got)
		}
	}
	for range 2 {
		get(Path+"?"+readAlbum, "gzip")
	}
}

func TestAShortListIsNotCountedAsALongReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := newLoad(&Flags{MaxRequests: 2, MaxLongReplies: 1})
		if !load.LongReplyBytes.TryEnter(listBytes) {
			t.Fatal("the limit of long replies is reached already")
		}
		h := newEdge(t, &fakes{pois: func(ctx context.Context, r *poiv1.ListPoisRequest) (*poiv1.ListPoisResponse, error) {
			if r.GetPageToken() != "" {
				time.Sleep(2 * patience) // longer than the wait after which pieces are sent
				return &poiv1.ListPoisResponse{}, nil
			}
			return poiPages(2, nil)(ctx, r)
		}}, func(c *Config) { c.Load = load })
		if w := get(h, "func=getCategoryPOIList&category=1"); w.Code != 200 || strings.Count(w.Body.String(), "<name>") != 500 {
			t.Errorf("got %d", w.Code)
		}
	})
}

func TestTheMemoryOfFormsIsLimited(t *testing.T) {
	load := Load{FormPieces: admission.New(admission.Limits{Slots: 2})}
	server := serve(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}, func(c *Config) { c.Load = load })
	slow, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n%s", Path, strings.Repeat("x", 2*smallFormBytes))
	for limit := time.Now().Add(time.Minute); load.FormPieces.Stats().Inside == 0 && time.Now().Before(limit); {
		runtime.Gosched()
	}
	ask := func(method, query, form string) (int, string) {
		request, err := http.NewRequest(method, server.URL+Path+"?"+query, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode, readAll(t, response.Body)
	}
	long := func(size int) string { return readAlbum + "&x=" + strings.Repeat("x", size) }
	for name, c := range map[string]struct {
		method, query, form string
		want                int
	}{
		"small, by GET":                     {"GET", readAlbum, "", 200},
		"small, by POST":                    {"POST", "", readAlbum, 200},
		"of one piece, by GET":              {"GET", long(2 * smallFormBytes), "", 200},
		"of one piece, by POST":             {"POST", "", long(2 * smallFormBytes), 200},
		"of two pieces":                     {"POST", "", long(smallFormBytes + formPieceBytes), 503},
		"of two pieces in query and body":   {"POST", long(smallFormBytes / 2), "y=" + strings.Repeat("y", formPieceBytes), 503},
		"of two pieces, by GET with a body": {"GET", long(smallFormBytes / 2), "y=" + strings.Repeat("y", formPieceBytes), 503},
	} {
		status, body := ask(c.method, c.query, c.form)
		if status != c.want || c.want == 503 && body != failed("SERVICE BUSY") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	slow.Close()
	server.Close() // waits for the handlers
	if got := load.FormPieces.Stats(); got.Inside != 0 || got.Refused != 3 {
		t.Errorf("%+v", got)
	}
}

func TestOneAddressLeavesMemoryForTheFormsOfOthers(t *testing.T) {
	load := Load{
		FormPieces:       admission.New(admission.Limits{Slots: 3}),
		ClientFormPieces: admission.NewPerKey(2),
	}
	h := newEdge(t, &fakes{answer: always(&albumv1.GetAlbumResponse{}, nil)}, func(c *Config) { c.Load = load })
	ask := func(address string, size int) int {
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(readAlbum+"&x="+strings.Repeat("x", size)))
		r.RemoteAddr = address
		return record(h, r).Code
	}
	if !load.ClientFormPieces.TryEnter("192.0.2.1") { // as of another form
		t.Fatal("there is no slot")
	}
	for _, c := range []struct {
		address string
		size    int
		want    int
	}{
		{"192.0.2.1:1", 2 * smallFormBytes, 200}, {"192.0.2.1:1", formPieceBytes + 2*smallFormBytes, 503},
		{"192.0.2.2:1", formPieceBytes + 2*smallFormBytes, 200}, {"192.0.2.1:1", 1, 200},
	} {
		if got := ask(c.address, c.size); got != c.want {
			t.Errorf("%s, %d bytes: %d, want %d", c.address, c.size, got, c.want)
		}
	}
	load.ClientFormPieces.Leave("192.0.2.1")
	if got := ask("192.0.2.1:1", formPieceBytes+2*smallFormBytes); got != 200 || load.FormPieces.Stats().Inside != 0 {
		t.Errorf("got %d, %+v", got, load.FormPieces.Stats())
	}
}

func TestARateLimitRejectsOnlyItsClientOrUserUntilItRecovers(t *testing.T) {
	now := time.Unix(1e9, 0)
	clock := func() time.Time { return now }
	f := &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{}}, nil)}
	h := newEdge(t, f, func(c *Config) {
		c.Load.Clients, c.Load.Users = admission.NewRate(1, clientBurst, clock), admission.NewRate(0.1, userBurst, clock)
	})
	ask := func(address, form string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Cookie", demoCookie)
		r.RemoteAddr = address
		return record(h, r)
	}
	expect := func(w *httptest.ResponseRecorder, info, retryAfter string) {
		t.Helper()
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != retryAfter || w.Body.String() != failed(info) ||
			w.Header().Get("X-Waybook-Reason") != strings.ReplaceAll(info, " ", "_") {
			t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
		}
	}
	const write = "func=addAlbum&albumTitle=a&category=1&lat=1&lng=1"
	for i := range 10 { // from one IPv6 network
		if w := ask(fmt.Sprintf("[2001:db8::%x]:1", i+1), "func=getAlbum"); w.Code != 200 {
			t.Fatalf("request %d: %d", i, w.Code)
		}
	}
	expect(ask("[2001:db8::ffff]:1", "func=getAlbum"), "TOO MANY REQUESTS", "1")
	if w := ask("[2001:db8:0:1::1]:1", "func=getAlbum"); w.Code != 200 {
		t.Errorf("another network: %d", w.Code)
	}
	for i := range 6 { // a minute's worth
		if w := ask(fmt.Sprintf("192.0.2.%d:1", i), write); w.Code != 200 {
			t.Fatalf("write %d: %d %s", i, w.Code, w.Body)
		}
	}
	expect(ask("192.0.2.9:1", write), "TOO MANY WRITES", "10")
	if w := ask("192.0.2.9:1", "func=getAlbum"); w.Code != 200 {
		t.Errorf("a read of the same user: %d", w.Code)
	}
	now = now.Add(10 * time.Second)
	for _, w := range []*httptest.ResponseRecorder{ask("[2001:db8::1]:1", "func=getAlbum"), ask("192.0.2.9:1", write)} {
		if w.Code != 200 {
			t.Errorf("after the wait: %d", w.Code)
		}
	}
}

func TestInventedCookiesDoNotUseUpTheRateOfAUser(t *testing.T) {
	h := newEdge(t, &fakes{answer: always(&albumv1.CreateAlbumResponse{Album: &albumv1.Album{}}, nil)}, func(c *Config) {
		c.Load.Users = admission.NewRate(0.1, time.Second, func() time.Time { return time.Unix(1e9, 0) })
	})
	const write = "func=addAlbum&albumTitle=a&category=1&lat=1&lng=1"
	for range 5 {
		r := cookieless(write)
		r.Header.Set("Cookie", "id=7; idrand="+strings.Repeat("0", 32))
		if w := record(h, r); w.Body.String() != failed("LOGIN REQUIRED") {
			t.Fatalf("got %s", w.Body)
		}
	}
	if w := post(h, write); w.Code != 200 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
