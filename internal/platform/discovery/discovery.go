// Package discovery finds the replicas of a service by DNS, for gRPC clients.
package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/dns"

	"github.com/waybook/waybook/internal/pause"
)

// Interval is the pause between two lookups of a name. A client therefore learns of a new address
// within about a second of the DNS server, and not only after it has lost another one.
const Interval = time.Second

// lookupTimeout bounds a lookup. One that takes longer has lost a packet.
const lookupTimeout = 3 * time.Second

// setUp sets what gRPC has for all clients of a process.
var setUp = sync.OnceFunc(func() {
	dns.SetMinResolutionInterval(Interval)
	dns.SetResolvingTimeout(lookupTimeout)
})

// NewBuilder returns a builder of resolvers for targets such as dns:///album:9092, where an empty
// host is this machine. They are gRPC's own, which look a name up once and again after a
// connection has broken. These look it up again and again. An empty answer and a failed lookup
// leave the known addresses in use, because each may still serve.
func NewBuilder() resolver.Builder {
	setUp()
	return builder{resolver.Get("dns")}
}

type builder struct{ resolver.Builder }

// Build returns a resolver that follows the addresses of the target's host until it is closed.
func (b builder) Build(target resolver.Target, client resolver.ClientConn,
	options resolver.BuildOptions) (resolver.Resolver, error) {
	if _, _, err := net.SplitHostPort(target.Endpoint()); err != nil {
		return nil, fmt.Errorf("the address %q needs the form host:port: %w", target.Endpoint(), err)
	}
	built, err := b.Builder.Build(target, keeper{client}, options)
	if err != nil {
		return nil, err
	}
	// gRPC passes no context and ends a resolver by Close.
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{Resolver: built, cancel: cancel}
	f.asking.Go(func() {
		for pause.For(ctx, Interval) == nil {
			built.ResolveNow(resolver.ResolveNowOptions{})
		}
	})
	return f, nil
}

// keeper is a client that keeps its addresses when an answer is empty.
type keeper struct{ resolver.ClientConn }

func (k keeper) UpdateState(state resolver.State) error {
	if len(state.Endpoints) == 0 {
		k.ReportError(errors.New("the answer is empty"))
		return nil // otherwise the next lookups come later and later
	}
	return k.ClientConn.UpdateState(state)
}

// follower is a resolver that looks up every Interval.
type follower struct {
	resolver.Resolver
	cancel context.CancelFunc
	asking sync.WaitGroup
}

// Close ends the lookups and waits for that.
func (f *follower) Close() {
	f.cancel()
	f.asking.Wait()
	f.Resolver.Close()
}
