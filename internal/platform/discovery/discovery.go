// Package discovery finds the replicas of a service by DNS, for gRPC clients.
package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"google.golang.org/grpc/resolver"

	"github.com/waybook/waybook/internal/pause"
)

// Interval is the pause between two lookups of a name. A client therefore learns of a new address
// within about a second of the DNS server, and not only after it has lost another one.
const Interval = time.Second

// lookupTimeout bounds a lookup. One that takes longer has lost a packet.
const lookupTimeout = 3 * time.Second

// lookup returns the addresses of a host. server is the host:port of the DNS server to ask; the
// system's own if it is empty.
type lookup func(ctx context.Context, server, host string) ([]string, error)

// Builder builds resolvers of gRPC targets such as dns:///album:9092. gRPC's own resolver looks a
// name up only after a connection has broken, at most every 30 seconds.
type Builder struct{ lookup lookup }

// NewBuilder returns a builder that asks DNS servers.
func NewBuilder() *Builder { return &Builder{ask} }

// Scheme returns the scheme of the targets. gRPC also uses it for targets without one.
func (*Builder) Scheme() string { return "dns" }

// Build returns a resolver that follows the addresses of the target's host until it is closed. An
// empty answer and a failed lookup leave the known addresses in use, because each may still
// serve. The endpoint of the target is host:port; an empty host is this machine.
func (b *Builder) Build(target resolver.Target, client resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	host, port, err := net.SplitHostPort(target.Endpoint())
	if err != nil {
		return nil, fmt.Errorf("the address %q needs the form host:port: %w", target.Endpoint(), err)
	}
	host = cmp.Or(host, "localhost")
	if _, err := netip.ParseAddr(host); err == nil {
		return fixed{}, client.UpdateState(stateOf([]string{host}, port))
	}
	// gRPC passes no context and ends a resolver by Close.
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{lookup: b.lookup, server: target.URL.Host, host: host, port: port, client: client, cancel: cancel, done: make(chan struct{})}
	go f.follow(ctx)
	return f, nil
}

// fixed is the resolver of an IP address.
type fixed struct{}

func (fixed) ResolveNow(resolver.ResolveNowOptions) {}
func (fixed) Close()                                {}

// follower is the resolver of a name.
type follower struct {
	lookup             lookup
	server, host, port string
	client             resolver.ClientConn
	cancel             context.CancelFunc
	done               chan struct{}
}

// ResolveNow does nothing, because the next lookup is at most an Interval away.
func (*follower) ResolveNow(resolver.ResolveNowOptions) {}

// Close ends the lookups and waits for that.
func (f *follower) Close() {
	f.cancel()
	<-f.done
}

// follow reports changes of the addresses until ctx ends.
func (f *follower) follow(ctx context.Context) {
	defer close(f.done)
	var known []string
	for ctx.Err() == nil {
		found, err := f.once(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			f.client.ReportError(err)
		case !slices.Equal(found, known) && f.client.UpdateState(stateOf(found, f.port)) == nil:
			known = found
		}
		_ = pause.For(ctx, Interval) // the loop sees the end of ctx
	}
}

// once returns the present addresses, sorted.
func (f *follower) once(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := f.lookup(ctx, f.server, f.host)
	if err == nil && len(found) == 0 {
		err = errors.New("the answer is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", f.host, err)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// stateOf returns each address as an endpoint of its own, to balance over.
func stateOf(hosts []string, port string) resolver.State {
	var state resolver.State
	for _, host := range hosts {
		address := resolver.Address{Addr: net.JoinHostPort(host, port)}
		state.Addresses = append(state.Addresses, address)
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{address}})
	}
	return state
}

// ask is the lookup of a builder outside of tests.
func ask(ctx context.Context, server, host string) ([]string, error) {
	system := net.DefaultResolver
	if server != "" {
		if _, _, err := net.SplitHostPort(server); err != nil {
			server = net.JoinHostPort(server, "53")
		}
		system = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server)
		}}
	}
	return system.LookupHost(ctx, host)
}
