// Package connlimit limits the connections of a port, in all and per client, and the header
// fields of an HTTP/1 request. It acts before a server keeps anything of a request.
package connlimit

import (
	"container/list"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"github.com/waybook/waybook/internal/platform/admission"
)

// socketBuffer is the size of the kernel's buffers of a limited connection, in bytes for each
// direction; Linux takes up to twice as much. The kernel would let each grow to several MiB for a
// client that reads slowly, and counts that as memory of the container.
const socketBuffer = 64 << 10

type Limits struct {
	// All is the limit of open connections, PerClient that of one client; 0 means no limit. A
	// client is an IPv4 address or the /64 of an IPv6 address; the /56 and the /48 have limits
	// too (admission.Allowance).
	All, PerClient int
	// IsProxy reports whether an address is that of a proxy. PerClient does not apply to it,
	// because its connections carry the requests of many clients. nil means no proxies.
	IsProxy func(netip.Addr) bool
	// ServedGiveWay lets a connection whose request is served give way too: the one gives way that
	// has waited, or whose request has been served, for the longest time.
	ServedGiveWay bool
}

// Limiter enforces the limits of one port. It may be used concurrently.
type Limiter struct {
	limits Limits

	mu      sync.Mutex
	open    int
	clients *admission.PerKey
	// waiting has the connections that may give way, the next one first: those that wait for a
	// request, and with ServedGiveWay all.
	waiting list.List
	stats   Stats
}

// Stats is the usage of a limiter. Open is a current number. Refused counts the connections that
// were closed at once, Displaced those that gave way to a new one.
type Stats struct{ Open, Refused, Displaced int64 }

func New(limits Limits) *Limiter {
	if limits.IsProxy == nil {
		limits.IsProxy = func(netip.Addr) bool { return false }
	}
	return &Limiter{limits: limits, clients: admission.NewPerKey(limits.PerClient)}
}

func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	stats := l.stats
	stats.Open = int64(l.open)
	return stats
}

// Listen returns a listener that accepts connections within the limits. It closes others at once.
func (l *Limiter) Listen(inner net.Listener) net.Listener {
	return &listener{Listener: inner, limiter: l}
}

// ListenHTTP does the same for a server that has not started yet. A connection that waits for a
// request, or whose header has not arrived, gives way to a new one when a limit is reached; the
// one that waits longest is closed. A request with more than maxFields header fields gets 431; 0
// means no limit. There is none on a server with HTTP/2: frames have no lines to count, and are
// read while the server reports states.
func (l *Limiter) ListenHTTP(inner net.Listener, server *http.Server, maxFields int) net.Listener {
	if server.Protocols != nil && server.Protocols.UnencryptedHTTP2() {
		maxFields = 0
	}
	server.ConnState = follow
	return &listener{Listener: inner, limiter: l, hasRequests: true, maxFields: maxFields}
}

// follow learns from the server whether a connection waits.
func follow(connection net.Conn, state http.ConnState) {
	c, ours := connection.(*conn)
	if !ours {
		return
	}
	switch state {
	case http.StateActive:
		c.header.isOver = true
		c.limiter.setWaiting(c, false)
	case http.StateIdle:
		c.header = header{}
		c.limiter.setWaiting(c, true)
	}
}

type listener struct {
	net.Listener
	limiter *Limiter
	// hasRequests says that the server reports the states of connections to follow.
	hasRequests bool
	maxFields   int
}

// Accept returns the next connection within the limits.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: inner, limiter: l.limiter, client: l.limiter.clientOf(inner), maxFields: l.maxFields}
		if l.limiter.admit(c, l.hasRequests) {
			return c, nil
		}
		_ = inner.Close()
	}
}

// clientOf returns the keys by which PerClient counts a connection: a client and its networks.
func (l *Limiter) clientOf(connection net.Conn) []string {
	address, ok := connection.RemoteAddr().(*net.TCPAddr)
	if !ok || l.limits.IsProxy(address.AddrPort().Addr().Unmap().WithZone("")) {
		return []string{""} // a proxy, or a Unix socket, whose clients have no addresses
	}
	return admission.KeysOf(admission.ClientKey(address.AddrPort().Addr()))
}

// admit counts a connection if there is room for it, and reports whether there is.
func (l *Limiter) admit(c *conn, waits bool) bool {
	l.mu.Lock()
	displaced, hasRoom := l.makeRoom(c.client[0])
	if hasRoom {
		l.open++
		l.clients.TryEnter(c.client[0])
		c.isCounted = true
		if waits {
			c.place = l.waiting.PushBack(c)
		}
	} else {
		l.stats.Refused++
	}
	l.mu.Unlock()
	if displaced != nil {
		_ = displaced.Conn.Close() // its server sees that and closes it too
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok && hasRoom {
		// Without these buffers the connection works too.
		_ = tcp.SetReadBuffer(socketBuffer)
		_ = tcp.SetWriteBuffer(socketBuffer)
	}
	return hasRoom
}

// makeRoom reports whether one more connection of a client fits. It may stop counting a waiting
// connection for that, which the caller has to close.
func (l *Limiter) makeRoom(client string) (displaced *conn, hasRoom bool) {
	full := l.clients.Full(client) // the smallest network: a connection that leaves it leaves the wider ones too
	if full == "" && (l.limits.All <= 0 || l.open < l.limits.All) {
		return nil, true
	}
	for element := l.waiting.Front(); element != nil; element = element.Next() {
		c := element.Value.(*conn)
		if full == "" || slices.Contains(c.client, full) {
			l.forget(c)
			l.stats.Displaced++
			return c, true
		}
	}
	return nil, false
}

// forget stops counting a connection. The caller holds the lock.
func (l *Limiter) forget(c *conn) {
	if !c.isCounted {
		return
	}
	c.isCounted = false
	l.open--
	l.clients.Leave(c.client[0])
	l.leave(c)
}

// leave removes a connection from those that may give way. The caller holds the lock.
func (l *Limiter) leave(c *conn) {
	if c.place != nil {
		l.waiting.Remove(c.place)
		c.place = nil
	}
}

func (l *Limiter) setWaiting(c *conn, waits bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.isCounted {
		return
	}
	l.leave(c)
	if waits || l.limits.ServedGiveWay {
		c.place = l.waiting.PushBack(c)
	}
}

func (l *Limiter) close(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(c)
}
