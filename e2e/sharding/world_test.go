// Package sharding_test runs the services on a sharded cluster, prepared as an operator does, and
// reads from their commands which shards they ask. The cluster is the face of package mongowire.
package sharding_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/internal/waybooktest"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
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
	clock *storetest.Clock
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
	c := &cluster{t: t, uri: uri, clock: storetest.NewClock(time.Now().UTC().Truncate(time.Millisecond))}
	prepared, err := storekeeping.Prepare(t.Context(), c.options())
	waybooktest.OK(t, err)
	c.engine, err = mongo.Open(t.Context(), uri, "")
	waybooktest.OK(t, err)
	t.Cleanup(func() { waybooktest.OK(t, c.engine.Close()) })
	noted := &recorder{Engine: c.engine}
	c.start(noted)
	c.specs = noted.specs
	ofFiles := 0
	for _, each := range prepared.Collections {
		if strings.Contains(each.Name, ".") {
			ofFiles++
		}
	}
	if len(c.specs)+ofFiles != len(prepared.Collections) || ofFiles != 6 {
		t.Fatalf("the services declare %d collections; %d were prepared, %d of them for files", len(c.specs), len(prepared.Collections), ofFiles)
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
type replica = waybooktest.Waybook

// start starts a process on a store. It stops when the test ends.
func (c *cluster) start(store docstore.Engine) *replica {
	c.t.Helper()
	ids := "new"
	if c.small.IsOn() {
		ids = "old"
	}
	p := waybooktest.StartOn(c.t, store, waybooktest.Flags("-reward=10", "-sessions-per-user=0", "-ids", ids,
		"-registration=open", "-registrations-per-address=1000000", "-registrations-per-hour=1000000"), waybooktest.Deps(func(deps *service.Deps) {
		deps.Now, deps.Small = c.clock.Now, c.small
	}))
	// It knows the hidden users, as one in use does: it asks for them every five seconds, whatever it serves.
	if _, err := p.Album.ListAlbums(c.t.Context(), &albumv1.ListAlbumsRequest{OwnerId: 1}); status.Code(err) != codes.NotFound {
		c.t.Fatalf("a list of nobody: %v", err)
	}
	return p
}

// namespaceOf returns the name of a collection on the server.
func (c *cluster) namespaceOf(spec docstore.Spec) string { return c.database + "." + spec.Name }

// commandsOf returns the commands on documents that a function and what it leaves to the
// background send.
func (c *cluster) commandsOf(p *replica, do func()) (sent []mongowire.Command) {
	c.t.Helper()
	mark := c.server.Mark()
	do()
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

// isData reports whether a command is on documents of the cluster. Ticks, which tell the time, are left out.
func (c *cluster) isData(command mongowire.Command) bool {
	_, _, isData := command.ShardKeys("_id")
	isTick := command.Collection == "feeds" && command.Name == "findAndModify"
	return isData && command.Database == c.database && !isTick
}

// sorted returns the keys of a map in their order.
func sorted[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
