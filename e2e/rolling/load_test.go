package rolling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/e2e/manifestrun"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// writers is the number of users who write.
const writers = 50

// load is a set of clients that send one request after another through an ingress, which keeps its
// connections to the edges.
type load struct {
	edges *endpoints
	// cookies are the sessions of the users who write in turns. One alone would exceed the rate
	// limit of a user.
	cookies []string
	turn    atomic.Int64
	client  *http.Client
	cancel  context.CancelFunc
	clients sync.WaitGroup

	mu    sync.Mutex
	grown chan struct{}
	seen  figures
	first error
}

// figures are the observations of the clients over a span of time.
type figures struct {
	requests, failed int
	slowest          time.Duration
}

// startLoad creates content and starts clients that read it, and one client that writes.
func startLoad(t *testing.T, f *manifestrun.Fleet) *load {
	t.Helper()
	reads, cookies := fill(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{
		edges: &endpoints{underWay: map[string]*sync.WaitGroup{}}, cookies: cookies, cancel: cancel, grown: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(reads) + 1}, Timeout: patience},
	}
	for _, edge := range f.Of("edge") {
		l.edges.add(edge.Address())
	}
	t.Cleanup(func() { l.stop() })
	for _, form := range reads {
		l.clients.Go(func() { l.repeat(ctx, http.MethodGet, form) })
	}
	l.clients.Go(func() {
		l.repeat(ctx, http.MethodPost, "func=addAlbum&albumTitle=x&category=1&lat=25&lng=121")
	})
	return l
}

// fill creates content. It returns forms that read it, one for each service, and the cookies of
// users.
func fill(t *testing.T, f *manifestrun.Fleet) (reads, cookies []string) {
	t.Helper()
	var dialed []*grpc.ClientConn
	defer func() {
		for _, connection := range dialed { // these connections are not part of the load
			_ = connection.Close()
		}
	}()
	dial := func(service string) *grpc.ClientConn {
		connection, err := grpc.NewClient(f.Of(service)[0].Address(), grpc.WithTransportCredentials(f.Certificates.Client("operator")))
		if err != nil {
			t.Fatal(err)
		}
		dialed = append(dialed, connection)
		return connection
	}
	ctx, place := t.Context(), &typev1.Location{Lat: 25, Lng: 121}
	accounts := accountv1.NewAccountServiceClient(dial("account"))
	var userID int64
	for range writers {
		user, err := accounts.CreateUser(ctx, &accountv1.CreateUserRequest{Name: "Mei"})
		if err != nil {
			t.Fatal(err)
		}
		userID = user.GetUser().GetUserId()
		session, err := accounts.OpenSession(ctx, &accountv1.OpenSessionRequest{UserId: userID})
		if err != nil {
			t.Fatal(err)
		}
		cookies = append(cookies, fmt.Sprintf("id=%d; idrand=%s", userID, session.GetToken()))
	}
	album, albumErr := albumv1.NewAlbumServiceClient(dial("album")).CreateAlbum(ctx, &albumv1.CreateAlbumRequest{
		OwnerId: userID, Title: "x", Category: 1, Location: place,
	})
	blog, blogErr := blogv1.NewBlogServiceClient(dial("blog")).CreateBlog(ctx, &blogv1.CreateBlogRequest{
		AuthorId: userID, Type: 1, Location: place, Title: "x", Content: "x", Weather: 1, PostDate: &typev1.Date{Year: 2026, Month: 1, Day: 1},
	})
	poi, poiErr := poiv1.NewPoiServiceClient(dial("poi")).CreatePoi(ctx, &poiv1.CreatePoiRequest{
		OwnerId: userID, Name: "x", Category: 1, Location: place,
	})
	if err := errors.Join(albumErr, blogErr, poiErr); err != nil {
		t.Fatal(err)
	}
	return []string{
		fmt.Sprintf("func=getAlbum&albumID=%d", album.GetAlbum().GetAlbumId()),
		fmt.Sprintf("func=getBlog&blogID=%d", blog.GetBlog().GetBlogId()),
		fmt.Sprintf("func=getPOI&POIID=%d", poi.GetPoi().GetPoiId()),
		"func=getCategoryPOIList&category=1",
	}, cookies
}

// repeat sends one request after another.
func (l *load) repeat(ctx context.Context, method, form string) {
	for ctx.Err() == nil {
		began := time.Now()
		err := l.request(ctx, method, form)
		if ctx.Err() != nil {
			return
		}
		l.count(time.Since(began), err)
	}
}

func (l *load) request(ctx context.Context, method, form string) error {
	address, done := l.edges.pick()
	defer done()
	target, body := "http://"+address+"/API.php", form
	if method == http.MethodGet {
		target, body = target+"?"+form, ""
	}
	request, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if method == http.MethodPost {
		request.Header.Set("Cookie", l.cookies[int(l.turn.Add(1))%len(l.cookies)])
	}
	response, err := l.client.Do(request)
	if err != nil {
		return err
	}
	reply, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(reply), "<status>SUCCESS</status>") {
		query, _ := url.ParseQuery(form)
		return fmt.Errorf("%s: %d %s", query.Get("func"), response.StatusCode, reply)
	}
	return nil
}

func (l *load) count(took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen.requests++
	l.seen.slowest = max(l.seen.slowest, took)
	if err != nil {
		l.seen.failed++
		if l.first == nil {
			l.first = err
		}
	}
	close(l.grown)
	l.grown = make(chan struct{})
}

// lap starts a span of time and returns the figures so far.
func (l *load) lap() figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.seen
	l.seen.slowest = 0
	return until
}

// since returns the figures of the span that lap started.
func (l *load) since(before figures) figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	return figures{l.seen.requests - before.requests, l.seen.failed - before.failed, l.seen.slowest}
}

// await waits until more requests have been answered.
func (l *load) await(t *testing.T, more int) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	l.mu.Lock()
	goal := l.seen.requests + more
	for l.seen.requests < goal {
		grown := l.grown
		l.mu.Unlock()
		select {
		case <-grown:
		case <-limit.C:
			t.Fatal("requests are no longer answered")
		}
		l.mu.Lock()
	}
	l.mu.Unlock()
}

// stop ends the load and returns its figures. Calling it again has no effect.
func (l *load) stop() figures {
	l.cancel()
	l.clients.Wait()
	l.client.CloseIdleConnections()
	return l.lap()
}

// check stops the load and checks that no request failed.
func (l *load) check(t *testing.T) {
	t.Helper()
	if total := l.stop(); total.failed > 0 {
		t.Errorf("%d of %d requests failed; the first: %v", total.failed, total.requests, l.first)
	}
}
