//go:build linux

package faults

import (
	"net/url"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
)

// shape is the way Waybook is deployed in a run.
type shape string

const (
	standalone shape = "standalone"
	processes  shape = "processes"
	// onMongoDB is processes that share one database.
	onMongoDB shape = "on MongoDB"
	// onRealServer is processes on the server of mongotest.RealServer, which is no program of the fleet.
	onRealServer shape = "on a real server"
)

// fleet is a running Waybook with the connections between its parts.
type fleet struct {
	shape    shape
	programs []*program
	hops     []*hop
	// storeHops are the hops to a database.
	storeHops []*hop
	// storeURI is the URI of a database that services reach without a hop.
	storeURI string
	edge     string
	services map[string]*grpc.ClientConn
}

var serviceNames = []string{"account", "album", "blog", "poi"}

func startFleet(t *testing.T, s shape) *fleet {
	t.Helper()
	f := &fleet{shape: s, services: map[string]*grpc.ClientConn{}}
	if s == standalone {
		f.startStandalone(t)
	} else {
		f.startProcesses(t)
	}
	return f
}

func (f *fleet) startStandalone(t *testing.T) {
	p := &program{
		name: "standalone", path: filepath.Join(bin, "standalone"), args: []string{"-demo=false", "-access-log=false", "-user-writes=0",
			"-client-misses=0", "-comments-per-minute=0", "-comments-per-user=0"},
		data: t.TempDir(), http: launch.Address(t), grpc: launch.Address(t),
	}
	p.start(t)
	f.programs = []*program{p}
	f.edge = f.hop(t, "client-edge", p.http)
	connection := f.dial(t, f.hop(t, "client-services", p.grpc), insecure.NewCredentials())
	for _, name := range serviceNames {
		f.services[name] = connection
	}
}

func (f *fleet) startProcesses(t *testing.T) {
	certificates := launch.NewCertificates(t)
	client := certificates.Client("operator")
	store := ""
	switch f.shape {
	case onRealServer:
		f.storeURI = mongotest.OnRealServer(t)
	case onMongoDB:
		if err := buildDatabase(); err != nil {
			t.Fatal(err)
		}
		database := &program{name: "database", path: filepath.Join(bin, "ferretdb"), data: t.TempDir(), grpc: launch.Address(t)}
		database.start(t)
		f.programs = append(f.programs, database)
		store = newFace(t, database.grpc)
	}
	grpcOf := map[string]string{}
	for _, name := range serviceNames {
		p := &program{name: name, path: filepath.Join(bin, name), environment: certificates.Environment(name), grpc: launch.Address(t)}
		switch {
		case f.storeURI != "":
			p.args = append(p.args, "-mongodb-uri", f.storeURI)
		case store != "":
			p.args = append(p.args, "-mongodb-uri", f.storeHop(t, name, store))
		default:
			p.data = t.TempDir()
		}
		if name != "account" {
			p.args = append(p.args, "-account", f.hop(t, name+"-account", grpcOf["account"]), "-comments-per-minute=0", "-comments-per-user=0")
		}
		p.start(t)
		grpcOf[name] = p.grpc
		f.programs = append(f.programs, p)
		f.services[name] = f.dial(t, p.grpc, client)
	}
	edge := &program{
		name: "edge", path: filepath.Join(bin, "edge"), environment: certificates.Environment("edge"),
		http: launch.Address(t), args: []string{"-access-log=false", "-user-writes=0", "-client-misses=0"},
	}
	for _, name := range serviceNames {
		edge.args = append(edge.args, "-"+name, f.hop(t, "edge-"+name, grpcOf[name]))
	}
	edge.start(t)
	f.programs = append(f.programs, edge)
	f.edge = f.hop(t, "client-edge", edge.http)
}

// newFace opens the face of MongoDB before a database, until the test ends, and returns the URI
// of a new database. The face is a router, because drivers reach it through hops: they would
// leave the hop for the address that a replica set names. It outlives the database, as a router
// outlives a shard, and knows the outcome of the writes that drivers retry.
func newFace(t *testing.T, backend string) (uri string) {
	t.Helper()
	face, err := mongowire.Listen(mongowire.Config{Backend: backend, Role: mongowire.Router})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := face.Close(); err != nil {
			t.Error(err)
		}
	})
	return face.URI(mongotest.Database())
}

// hop opens a hop to an address and returns the hop's own address.
func (f *fleet) hop(t *testing.T, name, to string) (address string) {
	t.Helper()
	opened := newHop(t, name, to)
	f.hops = append(f.hops, opened)
	return opened.address()
}

// storeHop opens a hop from a service to a database and returns the URI through it.
func (f *fleet) storeHop(t *testing.T, service, uri string) string {
	t.Helper()
	parsed, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	opened := newHop(t, service+"-store", parsed.Host)
	f.storeHops = append(f.storeHops, opened)
	parsed.Host = opened.address()
	return parsed.String()
}

// dial returns a connection that does not retry.
func (f *fleet) dial(t *testing.T, address string, secured credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	eager := backoff.DefaultConfig
	eager.BaseDelay, eager.MaxDelay = callPause, 10*callPause
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(secured), grpc.WithDisableRetry(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: eager, MinConnectTimeout: callBound}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// restart kills every program and starts it again.
func (f *fleet) restart(t *testing.T) {
	t.Helper()
	for _, p := range f.programs {
		p.kill()
	}
	for _, p := range f.programs {
		p.start(t)
	}
}
