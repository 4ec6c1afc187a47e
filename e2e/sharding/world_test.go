// Package sharding_test runs the services on a sharded cluster, prepared as an operator does, and
// reads from their commands which shards they ask. The cluster is the face of package mongowire.
package sharding_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"go.uber.org/goleak"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/choices"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
	"github.com/waybook/waybook/standalone/app"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shards is how many shards the cluster has.
const shards = 16

// cluster is a sharded cluster with the collections of the services. It has a clock.
type cluster struct {
	t *testing.T
	// server is nil on a real server.
	server        *mongowire.Server
	uri, database string
	engine        *mongo.Engine
	specs         []docstore.Spec
	// small is the setting of small identifiers; nil for none.
	small *smallids.Setting

	mu  sync.Mutex
	now time.Time
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	return startOn(t, mongowire.Config{Role: mongowire.Router, Shards: shards})
}

// startOn starts the collections on a server that may be a replica set.
func startOn(t *testing.T, config mongowire.Config) *cluster {
	t.Helper()
	server, database := mongotest.StartServer(t, config), mongotest.Database()
	c := startAt(t, server.URI(database))
	c.server, c.database = server, database
	return c
}

// startAt starts the collections in a database.
func startAt(t *testing.T, uri string) *cluster {
	t.Helper()
	c := &cluster{t: t, uri: uri, now: time.Now().UTC().Truncate(time.Millisecond)}
	prepared, err := storekeeping.Prepare(t.Context(), c.options(), storekeeping.Preparation{})
	must(t, err)
	c.engine, err = mongo.Open(t.Context(), uri, "")
	must(t, err)
	t.Cleanup(func() { must(t, c.engine.Close()) })
	noted := &recorder{Engine: c.engine}
	c.start(noted)
	c.specs = noted.specs
	if len(c.specs) != len(prepared.Collections) {
		t.Fatalf("the services declare %d collections, and %d were prepared", len(c.specs), len(prepared.Collections))
	}
	return c
}

func (c *cluster) options() storekeeping.Options {
	return storekeeping.Options{Store: service.StoreFlags{MongoDBURI: c.uri}}
}

// recorder is a store that records the collections that are opened.
type recorder struct {
	docstore.Engine
	specs []docstore.Spec
}

func (r *recorder) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	r.specs = append(r.specs, spec)
	return r.Engine.Open(ctx, spec)
}

// replica is all of Waybook in one process, without sweeps and with nothing in its caches.
type replica struct {
	account accountv1.AccountServiceClient
	album   albumv1.AlbumServiceClient
	blog    blogv1.BlogServiceClient
	poi     poiv1.PoiServiceClient

	edge     http.Handler
	services []service.Service
	counting *choices.Background
}

// start starts a process on a store. It stops when the test ends.
func (c *cluster) start(store docstore.Engine) *replica {
	t := c.t
	t.Helper()
	stack := &process.Stack{}
	t.Cleanup(func() { must(t, stack.Stop(context.WithoutCancel(t.Context()))) })
	env := process.Env{
		Stack: stack, Out: io.Discard, Log: slog.New(slog.DiscardHandler),
		Fail: func(err error) { t.Errorf("a part failed: %v", err) },
	}
	validator := protovalidate.GlobalValidator
	host := service.Host{Env: env, Metrics: process.NewMetrics(), Deps: service.NewDeps(store, validator, env.Log)}
	host.Deps.Now, host.Deps.Small = c.clock, c.small
	channel := app.NewChannel(service.NewInterceptors(validator, service.Load{}, nil, host.Metrics, env.Log), env.Tracing)
	p := &replica{
		account: accountv1.NewAccountServiceClient(channel), album: albumv1.NewAlbumServiceClient(channel),
		blog: blogv1.NewBlogServiceClient(channel), poi: poiv1.NewPoiServiceClient(channel),
	}
	accounts, err := account.New(t.Context(), host.Deps, account.Config{Sessions: account.SessionLife{Total: time.Hour}})
	must(t, err)
	deps := content.NewDeps(host, p.account)
	must(t, err)
	albums, err := album.New(t.Context(), deps)
	must(t, err)
	blogs, err := blog.New(t.Context(), deps, blog.Config{Reward: 10, Zone: time.UTC})
	must(t, err)
	pois, err := poi.New(t.Context(), deps)
	must(t, err)
	p.services, p.counting = []service.Service{accounts, albums, blogs, pois}, deps.Counting
	for _, each := range p.services {
		each.Register(channel)
	}
	var flags edge.Flags
	set := flag.NewFlagSet(t.Name(), flag.ContinueOnError)
	flags.Register(set)
	must(t, set.Parse(nil))
	config := flags.Config()
	if c.small.IsOn() {
		config.Identifiers = edge.OldIdentifiers
	}
	config.Account, config.Album, config.Blog, config.Poi = p.account, p.album, p.blog, p.poi
	config.Zone, config.Validator, config.Log = time.UTC, validator, env.Log
	p.edge = edge.New(config)
	return p
}

func (c *cluster) clock() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *cluster) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// namespaceOf returns the name of a collection on the server.
func (c *cluster) namespaceOf(spec docstore.Spec) string { return c.database + "." + spec.Name }

// commandsOf returns the commands on documents that a function and what it leaves to the
// background send.
func (c *cluster) commandsOf(p *replica, do func()) (sent []mongowire.Command) {
	c.t.Helper()
	mark := c.server.Mark()
	do()
	must(c.t, p.counting.Wait(c.t.Context()))
	commands, isComplete := c.server.Since(mark)
	if !isComplete {
		c.t.Fatal("the face has forgotten the first of the commands")
	}
	for _, command := range commands {
		if c.isData(command) {
			sent = append(sent, command)
		}
	}
	return sent
}

// isData reports whether a command is on documents of the cluster. The looks of a feed are left out: a call
// that waits makes as many as its time allows, and the calls of a process share them.
func (c *cluster) isData(command mongowire.Command) bool {
	_, _, isData := command.ShardKeys("_id")
	_, err := command.Body.LookupErr("filter", "_changed", "$lte")
	isLook := command.Collection == "feeds" && command.Name == "findAndModify" ||
		command.Name == "find" && err != nil && len(command.Body.Lookup("filter", "_changed").Value) > 0
	return isData && command.Database == c.database && !isLook
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// taken returns a reply, or ends the test if the call failed.
func taken[T any](reply T, err error) T {
	if err != nil {
		panic(fmt.Errorf("set up: %w", err))
	}
	return reply
}

// sorted returns the keys of a map in their order.
func sorted[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
