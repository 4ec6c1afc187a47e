package discovery

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/resolver"
)

// client records the reports of a resolver.
type client struct {
	resolver.ClientConn
	states []string
	failed []string
}

func (c *client) UpdateState(state resolver.State) error {
	var addresses []string
	for _, endpoint := range state.Endpoints {
		addresses = append(addresses, endpoint.Addresses[0].Addr)
	}
	c.states = append(c.states, strings.Join(addresses, " "))
	return nil
}

func (c *client) ReportError(err error) { c.failed = append(c.failed, err.Error()) }

// target returns the target that gRPC makes of an address.
func target(t *testing.T, address string) resolver.Target {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return resolver.Target{URL: *parsed}
}

// zone builds resolvers that answer each lookup in turn.
type zone struct {
	answers  [][]string
	client   resolver.ClientConn
	lookups  int
	isClosed bool
}

func (*zone) Scheme() string { return "dns" }

func (z *zone) Build(_ resolver.Target, client resolver.ClientConn, _ resolver.BuildOptions) (resolver.Resolver, error) {
	z.client = client
	z.ResolveNow(resolver.ResolveNowOptions{})
	return z, nil
}

func (z *zone) ResolveNow(resolver.ResolveNowOptions) {
	var state resolver.State
	for _, address := range z.answers[z.lookups] {
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: address}}})
	}
	z.lookups++
	if err := z.client.UpdateState(state); err != nil {
		panic(err) // the next lookup would be late
	}
}

func (z *zone) Close() { z.isClosed = true }

func TestANameIsLookedUpEverySecondAndAnEmptyAnswerIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, c := &zone{answers: [][]string{{"10.0.0.1:1"}, {"10.0.0.1:1", "10.0.0.2:1"}, {}, {"10.0.0.2:1"}}}, &client{}
		made, err := builder{z}.Build(target(t, "dns:///album:9092"), c, resolver.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3*Interval + 1) // on the fake clock
		made.Close()
		if want := []string{"10.0.0.1:1", "10.0.0.1:1 10.0.0.2:1", "10.0.0.2:1"}; !slices.Equal(c.states, want) {
			t.Errorf("reported %q, want %q", c.states, want)
		}
		if len(c.failed) != 1 || !strings.Contains(c.failed[0], "empty") || !z.isClosed {
			t.Errorf("reported %q, closed: %v", c.failed, z.isClosed)
		}
	})
}

func TestAnAddressWithoutAPortIsRejected(t *testing.T) {
	if _, err := NewBuilder().Build(target(t, "dns:///album"), &client{}, resolver.BuildOptions{}); err == nil || !strings.Contains(err.Error(), "host:port") {
		t.Errorf("got %v", err)
	}
}
