//go:build linux

package rolling

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	// propagation is how long it takes until the readiness or the end of a pod is known outside.
	propagation = 500 * time.Millisecond
	// caching is how long the DNS server answers from its cache.
	caching = 500 * time.Millisecond
	// learning is the longest time until all callers know a pod: they ask once a second.
	learning = propagation + caching + time.Second
)

// endpoint is a pod as the control plane sees it.
type endpoint struct {
	address netip.AddrPort
	// ready and ending are when the pod became ready and when it was told to end. ending is zero
	// before.
	ready, ending time.Time
}

// registry has the endpoints of services, and answers for them by DNS. It is safe for concurrent
// use.
type registry struct {
	server net.PacketConn

	mu       sync.Mutex
	services map[string][]*endpoint
	// cached are the answers of the DNS server, by name.
	cached map[string]answer
}

type answer struct {
	addresses []netip.AddrPort
	at        time.Time
}

// startRegistry starts a DNS server on loopback, until the test ends.
func startRegistry(t *testing.T) *registry {
	t.Helper()
	server, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &registry{server: server, services: map[string][]*endpoint{}, cached: map[string]answer{}}
	var serving sync.WaitGroup
	serving.Go(r.serve)
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
	})
	return r
}

// add makes a ready pod known.
func (r *registry) add(service string, address netip.AddrPort) *endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &endpoint{address: address, ready: time.Now()}
	r.services[service] = append(r.services[service], e)
	return e
}

// remove makes known that a pod ends.
func (r *registry) remove(e *endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.ending = time.Now()
}

// known returns the endpoints of a service that are known outside.
func (r *registry) known(service string) (addresses []netip.AddrPort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.knownLocked(service, time.Now().Add(-propagation))
}

func (r *registry) knownLocked(service string, then time.Time) (addresses []netip.AddrPort) {
	for _, e := range r.services[service] {
		if !e.ready.After(then) && (e.ending.IsZero() || e.ending.After(then)) {
			addresses = append(addresses, e.address)
		}
	}
	return addresses
}

// resolve returns what the DNS server answers.
func (r *registry) resolve(service string) []netip.AddrPort {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if old, has := r.cached[service]; !has || now.Sub(old.at) >= caching {
		r.cached[service] = answer{r.knownLocked(service, now.Add(-propagation)), now}
	}
	return slices.Clone(r.cached[service].addresses)
}

// serve answers questions until the server is closed.
func (r *registry) serve() {
	packet := make([]byte, 1500)
	for {
		n, from, err := r.server.ReadFrom(packet)
		if err != nil {
			return
		}
		if reply, err := r.reply(packet[:n]); err == nil {
			_, _ = r.server.WriteTo(reply, from) // a client that has gone
		}
	}
}

// reply answers a packet: names without a dot have the addresses of their endpoints.
func (r *registry) reply(packet []byte) ([]byte, error) {
	var query dnsmessage.Message
	if err := query.Unpack(packet); err != nil {
		return nil, err
	}
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true, RecursionAvailable: true},
		Questions: query.Questions,
	}
	for _, question := range query.Questions {
		name := question.Name.String()
		addresses := r.resolve(name[:len(name)-1])
		if len(addresses) == 0 {
			reply.RCode = dnsmessage.RCodeNameError
		}
		if question.Type != dnsmessage.TypeA {
			continue
		}
		for _, address := range addresses {
			reply.Answers = append(reply.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET},
				Body:   &dnsmessage.AResource{A: address.Addr().As4()},
			})
		}
	}
	return reply.Pack()
}
