package load

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

const (
	// visitorCount clients send a request every visitorPace, if they have the previous reply. That
	// is far below what a machine can do.
	visitorCount = 16
	visitorPace  = 50 * time.Millisecond
	// visitorPatience is how long a visitor waits for a reply.
	visitorPatience = 5 * time.Second

	longListQuery  = "func=getCategoryPOIList&category=5"
	shortListQuery = "func=getCategoryPOIList&category=1"
	// shortList is the number of landmarks of a list of 100 KB, which is sent in pieces.
	shortList = 100
)

// visitors are the clients that the edge is for, all from 127.0.0.2. They read an album, the albums
// of a user, and a list of landmarks, and add albums.
type visitors struct {
	album, user int64
	cookies     []string
}

func newVisitors(t *testing.T, services map[string]*launch.Process) *visitors {
	t.Helper()
	account := launch.Dial(t, services["account"].GRPC)
	accounts := accountv1.NewAccountServiceClient(account)
	v := &visitors{user: launch.CreateUser(t, account, "小旅人")}
	pois := launch.Dial(t, services["poi"].GRPC)
	launch.CreatePoisOf(t, pois, v.user, poiv1.PoiCategory_POI_CATEGORY_THRILL, wideName, longList)
	launch.CreatePoisOf(t, pois, v.user, poiv1.PoiCategory_POI_CATEGORY_TENDER, wideName, shortList)
	for range visitorCount {
		user := launch.CreateUser(t, account, "作者")
		opened, err := accounts.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: user})
		if err != nil {
			t.Fatal(err)
		}
		v.cookies = append(v.cookies, fmt.Sprintf("id=%d; idrand=%s", user, opened.GetToken()))
	}
	v.album = launch.CreateAlbumsOf(t, launch.Dial(t, services["album"].GRPC), v.user, "相簿", 10)[0]
	return v
}

// visit sends requests for a time and counts the replies. An unexpected reply fails the test; no
// reply is only not counted.
func (v *visitors) visit(t *testing.T, edge *launch.Process, forTime time.Duration) *result {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: visitorCount, DisableCompression: true}
	defer transport.CloseIdleConnections()
	client := waybooktest.ClientOver(t, "http://"+edge.HTTP, transport)
	ctx, cancel := context.WithTimeout(t.Context(), forTime)
	defer cancel()
	all := &result{}
	began := time.Now()
	var group sync.WaitGroup
	for number := range visitorCount {
		group.Go(func() {
			pace := time.NewTicker(visitorPace)
			defer pace.Stop()
			for turn := number; next(ctx, pace); turn++ {
				if err := v.ask(client.WithCookie(v.cookies[number]), turn, all); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	all.took = time.Since(began)
	return all
}

// ask sends one request and counts the reply.
func (v *visitors) ask(client *waybooktest.Client, turn int, all *result) error {
	method, form, want := http.MethodGet, "", 1
	switch turn % 10 {
	case 0:
		form = url.Values{
			"func": {"addAlbum"}, "albumTitle": {"相簿"}, "category": {"5"}, "lat": {"25"}, "lng": {"121"},
			"x": {strings.Repeat("花", 3000)}, // makes a form that does not count as small
		}.Encode()
		method = http.MethodPost
	case 1, 2:
		form, want = shortListQuery, shortList
	case 3, 4, 5:
		form, want = fmt.Sprintf("func=getUserAlbumList&userID=%d", v.user), 10
	default:
		form = fmt.Sprintf("func=getAlbum&albumID=%d", v.album)
	}
	asked := time.Now()
	ctx, cancel := context.WithTimeout(client.Context, visitorPatience)
	defer cancel()
	reply, err := client.Try(client.Form(method, form).WithContext(ctx))
	if err != nil {
		return nil // no reply, or part of one
	}
	text := reply.Body
	items := max(strings.Count(text, "<name>"), strings.Count(text, "<albumTitle>"), strings.Count(text, "<albumID>"))
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case reply.Code == http.StatusOK && strings.Contains(text, "<status>SUCCESS</status>") &&
		strings.HasSuffix(text, "</response>") && items == want:
		all.good++
		all.waits = append(all.waits, time.Since(asked))
	case reply.Code == http.StatusServiceUnavailable || reply.Code == http.StatusTooManyRequests:
		all.refused++
	default:
		return fmt.Errorf("%.80s: %d %.300s", form, reply.Code, text)
	}
	return nil
}
