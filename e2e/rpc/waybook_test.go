// Package rpc_test calls the four services over TCP as an internal service does. It calls each RPC
// and causes each failure that the contracts name.
package rpc_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/waybooktest"
	"github.com/waybook/waybook/proto/descriptors"
	accessv1 "github.com/waybook/waybook/proto/gen/waybook/access/v1"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	typev1 "github.com/waybook/waybook/proto/gen/waybook/type/v1"
)

// waybook is a running Waybook without content, with clients of its services over TCP.
type waybook struct {
	*waybooktest.Waybook
	t testing.TB
}

// start starts Waybook and stops it when the test ends.
func start(t testing.TB, options ...waybooktest.Option) *waybook {
	t.Helper()
	return &waybook{waybooktest.Start(t, options...), t}
}

// got returns a reply, or ends the test if the call failed.
func got[T any](t testing.TB, reply T, err error) T {
	t.Helper()
	return waybooktest.Must(reply, err)(t)
}

// must returns what returns the reply of a call, or ends the test if the call failed:
// must(w.Blog.GetBlog(ctx, request))(t).
func must[T any](reply T, err error) func(testing.TB) T { return waybooktest.Must(reply, err) }

// requestID returns the n-th UUID of a test.
func requestID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

var taipei = &typev1.Location{Lat: 25.034, Lng: 121.5645}

func (w *waybook) newUser(name string) int64 {
	w.t.Helper()
	return must(w.Account.CreateUser(w.t.Context(), &accountv1.CreateUserRequest{Name: name, IconUrl: name + ".jpg"}))(w.t).GetUser().GetUserId()
}

func (w *waybook) newAlbum(owner int64, title string) int64 {
	w.t.Helper()
	return must(w.Album.CreateAlbum(w.t.Context(), &albumv1.CreateAlbumRequest{
		OwnerId: owner, Title: title, Category: albumv1.AlbumCategory_ALBUM_CATEGORY_FOOD, Location: taipei,
	}))(w.t).GetAlbum().GetAlbumId()
}

// newBlogRequest returns a valid request for an entry with a vote of three choices.
func newBlogRequest(author int64) *blogv1.CreateBlogRequest {
	return &blogv1.CreateBlogRequest{
		AuthorId: author, Type: blogv1.BlogType_BLOG_TYPE_MOOD, Location: taipei, Title: "標題", Content: "一\r\n二",
		PostDate: &typev1.Date{Year: 2026, Month: 2, Day: 28}, Weather: blogv1.Weather_WEATHER_RAINBOW,
		Vote: &blogv1.NewVote{Description: "哪裡?", Choices: []string{"山", "海", "城"}},
	}
}

func (w *waybook) newBlog(author int64) int64 {
	w.t.Helper()
	return must(w.Blog.CreateBlog(w.t.Context(), newBlogRequest(author)))(w.t).GetBlog().GetBlogId()
}

func (w *waybook) newPoi(owner int64, name string) int64 {
	w.t.Helper()
	return must(w.Poi.CreatePoi(w.t.Context(), &poiv1.CreatePoiRequest{
		OwnerId: owner, Name: name, Category: poiv1.PoiCategory_POI_CATEGORY_TENDER, Location: taipei,
	}))(w.t).GetPoi().GetPoiId()
}

func (w *waybook) getAlbum(id int64) *albumv1.GetAlbumResponse {
	w.t.Helper()
	return must(w.Album.GetAlbum(w.t.Context(), &albumv1.GetAlbumRequest{AlbumId: id}))(w.t)
}

func (w *waybook) getBlog(id int64) *blogv1.GetBlogResponse {
	w.t.Helper()
	return must(w.Blog.GetBlog(w.t.Context(), &blogv1.GetBlogRequest{BlogId: id}))(w.t)
}

func (w *waybook) getPoi(id int64) *poiv1.GetPoiResponse {
	w.t.Helper()
	return must(w.Poi.GetPoi(w.t.Context(), &poiv1.GetPoiRequest{PoiId: id}))(w.t)
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // small heaps would be collected all the time
	goleak.VerifyTestMain(m)
}

// parts are the four services on a store that can fail, with a clock that the test sets, served
// over TCP.
type parts struct {
	*waybook
	store *brittle
}

const (
	sessionTTL = time.Hour
	// settling and kept are short for the changes of a test.
	settling, kept = 10 * time.Millisecond, time.Nanosecond
)

func startParts(t *testing.T) *parts {
	t.Helper()
	return startPartsOn(t, newBrittle(t))
}

func startPartsOn(t *testing.T, store *brittle) *parts {
	t.Helper()
	w := waybooktest.StartOn(t, store, waybooktest.Flags("-session-ttl", sessionTTL.String(), "-registration=invite", "-registrations-per-address=10"), waybooktest.Deps(func(deps *service.Deps) {
		deps.Changes = service.Changes{Settling: settling, Kept: kept}
	}))
	return &parts{&waybook{w, t}, store}
}

// check looks for violated constraints in the store.
func (p *parts) check() {
	p.t.Helper()
	if findings := p.findings(integrity.Look); len(findings) > 0 {
		p.t.Errorf("a check found %+v", findings)
	}
}

func (p *parts) findings(mode integrity.Mode) (all []integrity.Finding) {
	p.t.Helper()
	for _, each := range p.Services {
		constrained, ok := each.(content.Service)
		if !ok {
			continue
		}
		for _, constraint := range constrained.Constraints() {
			findings, err := constraint.Check(p.t.Context(), mode, func(int) {})
			if err != nil {
				p.t.Errorf("a check of %s: %v", constraint.Children, err)
			}
			all = append(all, findings...)
		}
	}
	return all
}

// engineWords are words that would reveal internals to a caller.
var engineWords = []string{"bolt", "mongo", "docstore", "waybook.db", "goroutine", ".go:", "rpc error", "bucket", "/tmp"}

// expectFault checks all parts of a failed call: code, reason, domain, and the exact set of fields
// in violations.
func expectFault(t testing.TB, err error, code codes.Code, reason string, fields ...string) {
	t.Helper()
	answer := status.Convert(err)
	if answer.Code() != code {
		t.Errorf("code %v, want %v: %v", answer.Code(), code, err)
		return
	}
	var info *errdetails.ErrorInfo
	var named []string
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			info = detail
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				named = append(named, violation.GetField())
				if violation.GetDescription() == "" {
					t.Errorf("the violation of %s has no description", violation.GetField())
				}
				if !strings.Contains(answer.Message(), violation.GetField()+": "+violation.GetDescription()) {
					t.Errorf("the message does not name the violation of %s: %q", violation.GetField(), answer.Message())
				}
			}
		}
	}
	if info.GetReason() != reason || info.GetDomain() != "waybook" {
		t.Errorf("reason %q of %q, want %q of waybook", info.GetReason(), info.GetDomain(), reason)
	}
	slices.Sort(named)
	slices.Sort(fields)
	if !slices.Equal(named, fields) {
		t.Errorf("violations of %v, want %v", named, fields)
	}
	if answer.Message() == "" {
		t.Error("the error has no message")
	}
	shown := fmt.Sprint(answer.Proto())
	for _, word := range engineWords {
		if strings.Contains(shown, word) {
			t.Errorf("the error reveals %q: %s", word, shown)
		}
	}
}

// failure is a call with its expected failure.
type failure struct {
	name   string
	call   func(context.Context) error
	code   codes.Code
	reason string
}

func expectFailures(t *testing.T, failures []failure) {
	t.Helper()
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) { expectFault(t, f.call(t.Context()), f.code, f.reason) })
	}
}

// calling returns a call of a method that has one reply.
func calling[Request, Reply any](
	method func(context.Context, Request, ...grpc.CallOption) (Reply, error), request Request,
) func(context.Context) error {
	return func(ctx context.Context) error { return failed(method(ctx, request)) }
}

// failed returns only the error of a call.
func failed[T any](_ T, err error) error { return err }

// declarations returns what the contracts declare about the methods that declare anything.
func declarations(t *testing.T) map[string]*accessv1.Access {
	t.Helper()
	methods := must(descriptors.Methods())(t)
	declared := map[string]*accessv1.Access{}
	for _, method := range methods {
		if proto.HasExtension(method.GetOptions(), accessv1.E_Access) {
			declared[method.FullName] = proto.GetExtension(method.GetOptions(), accessv1.E_Access).(*accessv1.Access)
		}
	}
	return declared
}

// browser sends forms to an edge in front of the services, and keeps cookies.
type browser struct {
	*waybooktest.Client
	t *testing.T
}

// newBrowser returns a browser with an address of its own. The edge calls this account service.
func (w *waybook) newBrowser(t *testing.T, account accountv1.AccountServiceClient, address string) *browser {
	return browserOf(t, w.EdgeWith(func(c *edge.Config) { c.Account = account }), address)
}

func browserOf(t *testing.T, edge http.Handler, address string) *browser {
	b := &browser{waybooktest.ClientOf(t, edge), t}
	b.Address = address
	return b
}

// send sends a form and returns the stable reason of a failure, or "" for a success.
func (b *browser) send(form url.Values) (reason string) {
	b.t.Helper()
	reply := b.Post(form.Encode())
	if reason = reply.Reason(); reply.Succeeded() != (reason == "") {
		b.t.Errorf("reason %q with %s", reason, reply.Body)
	}
	return reason
}

func (b *browser) logIn(email, password string) (reason string) {
	b.t.Helper()
	return b.send(url.Values{"func": {"login"}, "email": {email}, "password": {password}})
}

// expectLogin logs in and expects a reason; "" is a success.
func (b *browser) expectLogin(when, email, password, want string) {
	b.t.Helper()
	if got := b.logIn(email, password); got != want {
		b.t.Errorf("%s: a login of %s gets %q, want %q", when, email, got, want)
	}
}
