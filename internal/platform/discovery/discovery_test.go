package discovery

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/resolver"
)

// client records the reports of a resolver.
type client struct {
	resolver.ClientConn
	mu     sync.Mutex
	states []string
	failed []string
}

func (c *client) UpdateState(state resolver.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var addresses []string
	for _, endpoint := range state.Endpoints {
		addresses = append(addresses, endpoint.Addresses[0].Addr)
	}
	c.states = append(c.states, strings.Join(addresses, " "))
	return nil
}

func (c *client) ReportError(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, err.Error())
}

// target returns the target that gRPC makes of an address.
func target(t *testing.T, address string) resolver.Target {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return resolver.Target{URL: *parsed}
}

// zone answers lookups in turn, and the last answer from then on.
type zone struct {
	answers []any // an error, or the addresses
	asked   []string
}

func (z *zone) lookup(_ context.Context, server, host string) ([]string, error) {
	z.asked = append(z.asked, server+"/"+host)
	answer := z.answers[0]
	z.answers = z.answers[min(1, len(z.answers)-1):]
	if err, isError := answer.(error); isError {
		return nil, err
	}
	return slices.Clone(answer.([]string)), nil
}

func TestANameIsLookedUpAgainEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := &zone{answers: []any{
			[]string{"10.0.0.2", "10.0.0.1"}, []string{"10.0.0.1", "10.0.0.2", "10.0.0.1"}, []string{"10.0.0.3", "fd00::1"},
		}}
		c := &client{}
		made, err := (&Builder{z.lookup}).Build(target(t, "dns://192.0.2.1:53/album:9092"), c, resolver.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Second + 1) // on the fake clock
		made.ResolveNow(resolver.ResolveNowOptions{})
		made.Close()
		if want := []string{"10.0.0.1:9092 10.0.0.2:9092", "10.0.0.3:9092 [fd00::1]:9092"}; !slices.Equal(c.states, want) {
			t.Errorf("reported %q, want %q", c.states, want)
		}
		if len(z.asked) != 6 || z.asked[0] != "192.0.2.1:53/album" {
			t.Errorf("asked %q", z.asked)
		}
	})
}

func TestAFailedLookupLeavesTheKnownAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := &zone{answers: []any{
			errors.New("no such host"), []string{"10.0.0.1"}, errors.New("timeout"), []string{}, []string{"10.0.0.1"}, []string{"10.0.0.2"},
		}}
		c := &client{}
		made, err := (&Builder{z.lookup}).Build(target(t, "dns:///album:9092"), c, resolver.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second) // on the fake clock
		made.Close()
		if want := []string{"10.0.0.1:9092", "10.0.0.2:9092"}; !slices.Equal(c.states, want) {
			t.Errorf("reported %q, want %q", c.states, want)
		}
		if len(c.failed) != 3 || !strings.Contains(c.failed[0], "look up album: no such host") || !strings.Contains(c.failed[2], "empty") {
			t.Errorf("reported %q", c.failed)
		}
	})
}

func TestALookupThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, lookups := &client{}, 0
		hangs := func(ctx context.Context, _, _ string) ([]string, error) {
			lookups++
			<-ctx.Done()
			return nil, ctx.Err()
		}
		made, err := (&Builder{hangs}).Build(target(t, "dns:///album:9092"), c, resolver.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(lookupTimeout + Interval + 1) // on the fake clock
		made.Close()
		if lookups != 2 || len(c.failed) != 1 {
			t.Errorf("%d lookups, reported %q", lookups, c.failed)
		}
	})
}

func TestAnIPAddressIsNotLookedUp(t *testing.T) {
	for address, want := range map[string]string{"dns:///127.0.0.1:9092": "127.0.0.1:9092", "dns:///[::1]:9092": "[::1]:9092"} {
		c, z := &client{}, &zone{}
		made, err := (&Builder{z.lookup}).Build(target(t, address), c, resolver.BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		made.Close()
		if !slices.Equal(c.states, []string{want}) {
			t.Errorf("%s: reported %q", address, c.states)
		}
	}
}

func TestAnAddressWithoutAPortIsRejected(t *testing.T) {
	if _, err := NewBuilder().Build(target(t, "dns:///album"), &client{}, resolver.BuildOptions{}); err == nil || !strings.Contains(err.Error(), "host:port") {
		t.Errorf("got %v", err)
	}
}

func TestThisMachineIsFoundByTheSystem(t *testing.T) {
	found, err := ask(t.Context(), "", "localhost")
	if err != nil || !slices.ContainsFunc(found, func(a string) bool { return a == "127.0.0.1" || a == "::1" }) {
		t.Errorf("found %q, %v", found, err)
	}
}
