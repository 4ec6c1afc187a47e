package world

import (
	"context"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
	"github.com/waybook/waybook/standalone/app"
)

// program is a running standalone without its ports.
type program struct {
	engine   *embedded.Engine
	stack    *process.Stack
	services []service.Service
	account  accountv1.AccountServiceClient
	album    albumv1.AlbumServiceClient
	blog     blogv1.BlogServiceClient
	edge     http.Handler
}

// start starts a program on the disk of a world.
func start(w *world) (*program, error) {
	ctx := context.Background()
	engine, err := w.disk.OpenWithClock(w.now)
	if err != nil {
		return nil, err
	}
	p := &program{engine: engine, stack: &process.Stack{}}
	validator := protovalidate.GlobalValidator
	env := process.Env{Stack: p.stack, Log: slog.New(slog.DiscardHandler), Fail: func(err error) { w.t.Errorf("a part failed: %v", err) }}
	host := service.Host{Env: env, Metrics: process.NewMetrics(), Deps: service.NewDeps(engine, validator, env.Log)}
	host.Deps.Now, host.Deps.NewIDs = w.now, func() *id.Source { return id.NewSoleSource(w.now) }
	channel := app.NewChannel(service.NewInterceptors(validator, service.Load{}, nil, host.Metrics, env.Log), tracing.Tracing{})
	p.account, p.album, p.blog = accountv1.NewAccountServiceClient(channel), albumv1.NewAlbumServiceClient(channel), blogv1.NewBlogServiceClient(channel)
	accounts, err := account.New(ctx, host.Deps, account.Config{Sessions: account.SessionLife{Total: 1000 * time.Hour}})
	if err != nil {
		return nil, err
	}
	deps, err := content.NewDeps(host, p.account)
	if err != nil {
		return nil, err
	}
	albums, err := album.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	blogs, err := blog.New(ctx, deps, blog.Config{Reward: reward, Zone: time.UTC})
	if err != nil {
		return nil, err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return nil, err
	}
	p.services = []service.Service{accounts, albums, blogs, pois}
	for _, each := range p.services {
		each.Register(channel)
	}
	p.edge = edge.New(edge.Config{
		Account: p.account, Album: p.album, Blog: p.blog, Poi: poiv1.NewPoiServiceClient(channel),
		Zone: time.UTC, Additions: operation.AdditionsServed, Log: env.Log, Validator: validator,
	})
	return p, nil
}

// end ends the program, which may have been killed.
func (p *program) end(t *testing.T) {
	if err := p.stack.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	_ = p.engine.Close() // it fails after a kill
}

// sweep runs the sweepers once.
func (p *program) sweep(w *world) {
	for _, each := range p.services {
		if err := each.Sweep(context.Background()); err != nil && !w.isDying {
			w.t.Error(err)
		}
	}
}

// user is somebody with a session.
type user struct {
	id     int64
	name   string
	cookie string
}

func (p *program) newUser(t *testing.T, name string) *user {
	made, err := p.account.CreateUser(t.Context(), &accountv1.CreateUserRequest{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := p.account.OpenSession(t.Context(), &accountv1.OpenSessionRequest{UserId: made.GetUser().GetUserId()})
	if err != nil {
		t.Fatal(err)
	}
	cookie := fmt.Sprintf("id=%d; idrand=%s", made.GetUser().GetUserId(), opened.GetToken())
	return &user{made.GetUser().GetUserId(), name, cookie}
}

// reply is a reply to a legacy client.
type reply struct {
	// isDone: status SUCCESS. info is the reason of a refusal. If there is neither, the client cannot know
	// whether the operation has happened.
	isDone bool
	info   string
	body   element
}

type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

// find returns the elements at a path.
func (e element) find(path ...string) []element {
	if len(path) == 0 {
		return []element{e}
	}
	var found []element
	for _, child := range e.Children {
		if child.XMLName.Local == path[0] || path[0] == "*" {
			found = append(found, child.find(path[1:]...)...)
		}
	}
	return found
}

// text returns the text of the first element at a path.
func (e element) text(path ...string) string {
	for _, found := range e.find(path...) {
		return found.Text
	}
	return ""
}

// send sends a form with the session of a user.
func (p *program) send(t *testing.T, as *user, parameters ...string) reply {
	form := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/API.php", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", as.cookie)
	recorder := httptest.NewRecorder()
	p.edge.ServeHTTP(recorder, request)
	var r reply
	if err := xml.Unmarshal(recorder.Body.Bytes(), &r.body); err != nil {
		t.Errorf("%v: %v in %q", parameters, err, recorder.Body)
		return r
	}
	if recorder.Code == http.StatusOK {
		r.isDone = r.body.text("status") == "SUCCESS"
		r.info = r.body.text("info")
	}
	return r
}
