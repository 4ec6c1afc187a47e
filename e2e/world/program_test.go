package world

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/blob"
	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/id"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/tracing"
	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/internal/upload"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
	"github.com/waybook/waybook/standalone/app"
)

// maxPhotoBytes is the largest size of a photo.
const maxPhotoBytes = 1 << 20

// program is a running standalone without its ports.
type program struct {
	store  docstore.Engine
	now    func() time.Time
	newIDs func() *id.Source
	// isGone says that the program has died, so that replies are lost.
	isGone func() bool
	// read and write do the steps of calls of files, which clock dates.
	read, write storetest.Hook
	clock       func() time.Time
	// wire is nil if the program is one process.
	wire *wire

	stack    *process.Stack
	backups  *blob.Backups
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
		w.cutAt(clientOf(ctx))
		return do()
	}
	store := &storetest.Hooked{Engine: storetest.Lender{Engine: p.store}, Read: inTurn, Write: inTurn}
	p.stack = &process.Stack{}
	env := process.Env{Stack: p.stack, Log: slog.New(slog.DiscardHandler), Fail: func(err error) { w.violated("a part failed: %v", err) }}
	host := service.Host{Env: env, Metrics: process.NewMetrics(), Deps: service.NewDeps(store, env.Log)}
	host.Deps.Now, host.Deps.NewIDs, host.Deps.Small = p.now, p.newIDs, w.setting(p.now)
	host.Deps.Files = func(_ context.Context, collection string) (blob.Store, error) {
		at := func(hook storetest.Hook) storetest.Hook {
			return func(ctx context.Context, call storetest.Call, do func() error) error {
				return inTurn(ctx, call, func() error { return hook(ctx, call, do) })
			}
		}
		return &files{shelf: w.files.of(collection), clock: p.clock, read: at(p.read), write: at(p.write)}, nil
	}
	host.Deps.Uploads = upload.New(upload.Flags{MaxBytes: maxPhotoBytes, Memory: 64 << 20}, host.Metrics)
	p.backups = host.Deps.Backups
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
	deps.PublicURL = "https://waybook.example"
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
	if err := channel.ServeStreams(env); err != nil {
		return err
	}
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
		MaxPhotoBytes: maxPhotoBytes,
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
	// isHidden: the user is hidden, or may be. From hiddenFrom on, all must know it, unless that is zero.
	isHidden   bool
	hiddenFrom time.Time
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
	return p.post(as.context(), w, as, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// post sends a body with the session of a user.
func (p *program) post(ctx context.Context, w *world, as *user, contentType string, body io.Reader) (r reply) {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/API.php", body)
	request.Header.Set("Content-Type", contentType)
	code, answer := p.serve(as, request)
	if err := xml.Unmarshal(answer, &r.body); err != nil {
		if ctx.Err() == nil {
			w.violated("%v in %q", err, answer)
		}
		return r
	}
	if code == http.StatusOK {
		r.isDone = r.body.text("status") == "SUCCESS"
		if r.info = r.body.text("info"); r.info == "INTERNAL ERROR" {
			r.info = ""
		}
	}
	return r
}

// get gets a file with the session of a user.
func (p *program) get(as *user, path string) (status int, content []byte) {
	return p.serve(as, httptest.NewRequestWithContext(as.context(), http.MethodGet, path, http.NoBody))
}

// serve answers a request. There may be no answer to one whose client is gone.
func (p *program) serve(as *user, request *http.Request) (status int, body []byte) {
	defer func() {
		if r := recover(); r != nil && r != http.ErrAbortHandler {
			panic(r)
		}
	}()
	request.Header.Set("Cookie", fmt.Sprintf("id=%d; idrand=%s", as.id, as.token))
	recorder := httptest.NewRecorder()
	p.edge.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.Bytes()
}
