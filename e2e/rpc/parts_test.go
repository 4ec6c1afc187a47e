package rpc_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
)

// parts are the four services on a store that can fail, with a clock that the test sets, served
// over TCP.
type parts struct {
	*waybook
	store    *brittle
	services []service.Service

	mu  sync.Mutex
	now time.Time
}

// direct is the account service as the other services in one process call it.
type direct struct {
	accountv1.AccountServiceClient
	server account.Service
}

func (d direct) BatchGetUsers(
	ctx context.Context, request *accountv1.BatchGetUsersRequest, _ ...grpc.CallOption,
) (*accountv1.BatchGetUsersResponse, error) {
	return d.server.BatchGetUsers(ctx, request)
}

func (d direct) GrantReward(
	ctx context.Context, request *accountv1.GrantRewardRequest, _ ...grpc.CallOption,
) (*accountv1.GrantRewardResponse, error) {
	return d.server.GrantReward(ctx, request)
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
	p := &parts{store: store, now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	env := newEnv(t)
	validator := protovalidate.GlobalValidator
	host := service.Host{Env: env, Metrics: process.NewMetrics(), Deps: service.NewDeps(p.store, validator, env.Log)}
	host.Deps.Now = p.clock
	host.Deps.Changes = service.Changes{Settling: settling, Kept: kept}
	accounts := must(account.New(t.Context(), host.Deps, account.Config{Sessions: account.SessionLife{Total: sessionTTL}}))(t)
	deps := content.NewDeps(host, direct{server: accounts})
	albums := must(album.New(t.Context(), deps))(t)
	blogs := must(blog.New(t.Context(), deps, blog.Config{Reward: 10, Zone: time.UTC}))(t)
	pois := must(poi.New(t.Context(), deps))(t)
	p.services = []service.Service{accounts, albums, blogs, pois}

	listener := must(process.Listen(t.Context(), "grpc", "127.0.0.1:0"))(t)
	service.Serve(env, "grpc port", listener, nil, service.NewInterceptors(validator, service.Load{}, nil, host.Metrics, env.Log), p.store, p.services...)
	p.waybook = connect(t, listener.Addr())
	return p
}

func (p *parts) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *parts) advance(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(by)
}

func (p *parts) sweep() {
	p.t.Helper()
	for _, each := range p.services {
		if err := each.Sweep(p.t.Context()); err != nil {
			p.t.Error(err)
		}
	}
}
