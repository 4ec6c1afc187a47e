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
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
	"github.com/waybook/waybook/standalone/app"
)

// program is a running standalone without its ports.
type program struct {
	store  docstore.Engine
	now    func() time.Time
	newIDs func() *id.Source
	// isGone says that the program has died, so that replies are lost.
	isGone func() bool
	// wire is nil if the program is one process.
	wire *wire

	stack    *process.Stack
	services []service.Service
	sweepers []service.Sweeper
	clients.Clients
	edge http.Handler
}

// start starts the program in a world. Its calls of the store take turns.
func (p *program) start(w *world) error {
	ctx := starter.context()
	inTurn := func(ctx context.Context, _ storetest.Call, do func() error) error {
		w.turns.wait(ctx)
		return do()
	}
	store := &storetest.Hooked{Engine: storetest.Lender{Engine: p.store}, Read: inTurn, Write: inTurn}
	p.stack = &process.Stack{}
	env := process.Env{Stack: p.stack, Log: slog.New(slog.DiscardHandler), Fail: func(err error) { w.violated("a part failed: %v", err) }}
	host := service.Host{Env: env, Metrics: process.NewMetrics(), Deps: service.NewDeps(store, env.Log)}
	host.Deps.Now, host.Deps.NewIDs, host.Deps.Small = p.now, p.newIDs, w.setting(p.now)
	interceptors := service.NewInterceptors(service.Load{}, nil, host.Metrics, env.Log)
	channel := app.NewChannel(interceptors, tracing.Tracing{})
	var ofEdge, ofServices grpc.ClientConnInterface = channel, channel
	if p.wire != nil {
		var err error
		if ofEdge, err = p.wire.dial(env, p.wire.edge); err != nil {
			return err
		}
		if ofServices, err = p.wire.dial(env, p.wire.services); err != nil {
			return err
		}
	}
	calls := extending{ofEdge}
	p.Clients = clients.Of(calls, calls, calls, calls)
	accounts, err := account.New(ctx, host.Deps, account.Config{Sessions: account.SessionLife{Total: 365 * 24 * time.Hour}})
	if err != nil {
		return err
	}
	deps := content.NewDeps(host, accountv1.NewAccountServiceClient(ofServices))
	albums, err := album.New(ctx, deps)
	if err != nil {
		return err
	}
	blogs, err := blog.New(ctx, deps, blog.Config{Reward: reward, Zone: time.UTC})
	if err != nil {
		return err
	}
	pois, err := poi.New(ctx, deps)
	if err != nil {
		return err
	}
	p.services = []service.Service{accounts, albums, blogs, pois}
	service.Register(channel, p.services...)
	for _, each := range p.services {
		p.sweepers = append(p.sweepers, each)
	}
	if p.wire != nil {
		if err := p.wire.serve(env, interceptors, p.services); err != nil {
			return err
		}
	}
	identifiers := edge.NewIdentifiers
	if w.isSmall {
		p.sweepers, identifiers = append(p.sweepers, host.Deps.Small), edge.OldIdentifiers
	}
	p.edge = edge.New(edge.Config{
		Clients: p.Clients, Zone: time.UTC, Additions: operation.AdditionsServed, Log: env.Log, Identifiers: identifiers,
	})
	return nil
}

// end ends the program, which may have died. Its store stays open.
func (p *program) end(w *world) { w.must(p.stack.Stop(context.Background())) }

// sweeper and starter are who sweeps and who starts among those that act at the same time.
var sweeper, starter = user{number: -1}, user{number: -2}

// sweep runs the sweepers once.
func (p *program) sweep(w *world) {
	for _, each := range p.sweepers {
		if err := each.Sweep(sweeper.context()); err != nil && !w.mayFail {
			w.violated("a sweep: %v", err)
		}
	}
}

// user is somebody with a session.
type user struct {
	number int
	id     int64
	name   string
	token  string
	// isGone: the user was deleted, or may have been.
	isGone bool
}

func (u *user) context() context.Context {
	return context.WithValue(context.Background(), clientKey{}, u.number)
}

// newUser returns a new user with a number.
func (p *program) newUser(w *world, number int) *user {
	u := &user{number: number, name: fmt.Sprint("user ", number)}
	made, err := p.Account.CreateUser(context.Background(), &accountv1.CreateUserRequest{Name: u.name})
	w.must(err)
	u.id = made.GetUser().GetUserId()
	w.means("user", fmt.Sprint(u.id), u.name)
	w.must(p.logIn(u))
	return u
}

// logIn opens a session for a user.
func (p *program) logIn(u *user) error {
	opened, err := p.Account.OpenSession(context.Background(), &accountv1.OpenSessionRequest{UserId: u.id})
	if err == nil {
		u.token = opened.GetToken()
	}
	return err
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
func (p *program) send(w *world, as *user, parameters ...string) reply {
	form := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	request := httptest.NewRequestWithContext(as.context(), http.MethodPost, "/API.php", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Cookie", fmt.Sprintf("id=%d; idrand=%s", as.id, as.token))
	recorder := httptest.NewRecorder()
	p.edge.ServeHTTP(recorder, request)
	var r reply
	if err := xml.Unmarshal(recorder.Body.Bytes(), &r.body); err != nil {
		w.violated("%v: %v in %q", parameters, err, recorder.Body)
		return r
	}
	if recorder.Code == http.StatusOK {
		r.isDone = r.body.text("status") == "SUCCESS"
		r.info = r.body.text("info")
	}
	return r
}
