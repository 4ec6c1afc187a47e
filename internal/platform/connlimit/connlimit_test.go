package connlimit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/waybook/waybook/internal/pause"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is an HTTP server behind a Limiter. Its handler answers /wait once leave is closed, and all
// other paths at once, with the body of the request.
type site struct {
	address string
	limiter *Limiter
	inside  chan struct{}
	leave   chan struct{}
}

const maxFields = 5

func serve(t *testing.T, limits Limits) *site {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{listener.Addr().String(), New(limits), make(chan struct{}), make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			s.inside <- struct{}{}
			<-s.leave
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})}
	limited := s.limiter.ListenHTTP(listener, server, maxFields)
	var running sync.WaitGroup
	follow := server.ConnState
	server.ConnState = func(c net.Conn, state http.ConnState) {
		follow(c, state)
		switch state {
		case http.StateNew:
			running.Add(1)
		case http.StateClosed:
			running.Done()
		}
	}
	running.Go(func() { _ = server.Serve(limited) })
	t.Cleanup(func() {
		_ = server.Close()
		running.Wait()
		if got := s.limiter.Stats().Open; got != 0 {
			t.Errorf("%d connections are counted and none is open", got)
		}
	})
	return s
}

// expectWaiting waits until n connections wait for a request. A client has its reply before the
// server knows that the connection is idle.
func (s *site) expectWaiting(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		s.limiter.mu.Lock()
		got := s.limiter.waiting.Len()
		s.limiter.mu.Unlock()
		if got == n {
			return
		}
		if err := pause.For(ctx, time.Millisecond); err != nil {
			t.Fatalf("%d connections wait, want %d", got, n)
		}
	}
}

// client is a connection of a test.
type client struct {
	net.Conn
	t      *testing.T
	reader *bufio.Reader
}

// dial connects from an address of this machine.
func dial(t *testing.T, from, to string) *client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := dialer.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // instead of a test that hangs
	return &client{c, t, bufio.NewReader(c)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the status and the body of the next reply.
func (c *client) receive() (status int, body string) {
	c.t.Helper()
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

func (c *client) expectServed() {
	c.t.Helper()
	c.send(request)
	if status, _ := c.receive(); status != http.StatusOK {
		c.t.Errorf("got %d", status)
	}
}

func (c *client) expectClosed() {
	c.t.Helper()
	rest, err := io.ReadAll(c.reader)
	if os.IsTimeout(err) || len(rest) > 0 {
		c.t.Errorf("the connection is open: %q, %v", rest, err)
	}
}

func TestAConnectionAboveTheLimitIsClosedAtOnce(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limiter := New(Limits{All: 1})
	listener := limiter.Listen(inner)
	first := dial(t, "127.0.0.1", inner.Addr().String())
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	later := make(chan net.Conn)
	go func() {
		defer close(later)
		if c, err := listener.Accept(); err == nil {
			later <- c
		}
	}()
	dial(t, "127.0.0.2", inner.Addr().String()).expectClosed()
	if err := accepted.Close(); err != nil {
		t.Fatal(err)
	}
	first.expectClosed()
	_ = accepted.Close() // again, as servers do
	dial(t, "127.0.0.1", inner.Addr().String())
	third := <-later
	if got := limiter.Stats(); got != (Stats{Open: 1, Refused: 1}) {
		t.Errorf("%+v", got)
	}
	_ = third.Close()
	_ = listener.Close()
}

func TestTheConnectionThatWaitsLongestGivesWay(t *testing.T) {
	s := serve(t, Limits{All: 3})
	first, second, third := dial(t, "127.0.0.1", s.address), dial(t, "127.0.0.1", s.address), dial(t, "127.0.0.1", s.address)
	first.expectServed()
	s.expectWaiting(t, 3)
	second.expectServed()
	s.expectWaiting(t, 3)
	third.expectServed()
	s.expectWaiting(t, 3)
	first.expectServed()
	s.expectWaiting(t, 3)
	// first waits for the shortest time now, second for the longest.
	fourth := dial(t, "127.0.0.2", s.address)
	fourth.expectServed()
	s.expectWaiting(t, 3)
	second.expectClosed()
	slow := dial(t, "127.0.0.2", s.address) // takes the place of third
	third.expectClosed()
	slow.send("GET / HTTP/1.1\r\nHost: x\r\n")
	first.expectServed()
	s.expectWaiting(t, 3)
	fourth.expectServed()
	s.expectWaiting(t, 3)
	dial(t, "127.0.0.2", s.address).expectServed()
	s.expectWaiting(t, 3)
	slow.expectClosed()
	first.expectServed()
	s.expectWaiting(t, 3)
	if got := s.limiter.Stats(); got.Displaced != 3 || got.Refused != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAConnectionWhoseRequestIsServedDoesNotGiveWay(t *testing.T) {
	s := serve(t, Limits{All: 1})
	busy := dial(t, "127.0.0.1", s.address)
	busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.inside
	dial(t, "127.0.0.2", s.address).expectClosed()
	close(s.leave)
	if status, _ := busy.receive(); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	if got := s.limiter.Stats(); got.Refused != 1 || got.Displaced != 0 {
		t.Errorf("%+v", got)
	}
}

// Who fills the port with requests that are served would otherwise displace each new connection before it has sent its own.
func TestARequestThatIsServedGivesWayToANewConnectionIfItMay(t *testing.T) {
	s := serve(t, Limits{All: 2, ServedGiveWay: true})
	busy := dial(t, "127.0.0.1", s.address)
	busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.inside
	defer close(s.leave)
	probe := dial(t, "127.0.0.2", s.address)
	s.expectWaiting(t, 2)
	dial(t, "127.0.0.1", s.address).expectServed()
	probe.expectServed()
	busy.expectClosed()
	if got := s.limiter.Stats(); got.Refused != 0 || got.Displaced != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAClientHasALimitOfItsOwnUnlessItIsAProxy(t *testing.T) {
	proxy := netip.MustParseAddr("127.0.0.9")
	s := serve(t, Limits{PerClient: 1, IsProxy: func(a netip.Addr) bool { return a == proxy }})
	var proxied []*client
	for range 3 {
		c := dial(t, "127.0.0.9", s.address)
		c.expectServed()
		proxied = append(proxied, c)
	}
	busy := dial(t, "127.0.0.1", s.address)
	busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.inside
	dial(t, "127.0.0.1", s.address).expectClosed()
	other := dial(t, "127.0.0.2", s.address)
	other.expectServed()
	close(s.leave)
	_, _ = busy.receive()
	s.expectWaiting(t, 5)
	next := dial(t, "127.0.0.1", s.address) // the idle one gives way, and none of another client
	next.expectServed()
	busy.expectClosed()
	for _, c := range append(proxied, other, next) {
		c.expectServed()
	}
}

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from netip.Addr
}

func (c addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(c.from, 1))
}
func (addressed) Close() error { return nil }

// Connections from ever new networks of one /60, /56 or /48 count together; those of a neighbour find room.
func TestAClientIsAnAddressOrIPv6NetworksOfEachSize(t *testing.T) {
	for name, test := range map[string]struct {
		of   func(n int) string
		want int
	}{
		"addresses of IPv4": {func(n int) string { return fmt.Sprintf("192.0.2.%d", n) }, 100},
		"IPv4 in IPv6":      {func(n int) string { return fmt.Sprintf("::ffff:192.0.2.%d", n) }, 100},
		"one /64":           {func(n int) string { return fmt.Sprintf("2001:db8:1:2::%x", n) }, 3},
		"one /60":           {func(n int) string { return fmt.Sprintf("2001:db8:1:1%x::1", n%16) }, 6},
		"one /56":           {func(n int) string { return fmt.Sprintf("2001:db8:1:1%02x::1", n) }, 6},
		"one /48":           {func(n int) string { return fmt.Sprintf("2001:db8:1:%x::1", n<<8) }, 12},
		"many /48":          {func(n int) string { return fmt.Sprintf("2001:db8:%x::1", n) }, 100},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(Limits{PerClient: 3})
			for range 2 { // those that are closed leave nothing
				var open []*conn
				for n := range 100 {
					inner := addressed{from: netip.MustParseAddr(test.of(n))}
					if c := (&conn{Conn: inner, limiter: l, client: l.clientOf(inner)}); l.admit(c, false) {
						open = append(open, c)
					}
				}
				if len(open) != test.want {
					t.Errorf("%d connections, want %d", len(open), test.want)
				}
				for _, c := range open {
					l.close(c)
				}
			}
			if l.Stats().Open != 0 {
				t.Errorf("%v are left", l.Stats())
			}
		})
	}
}

func TestARequestWithTooManyFieldsGets431(t *testing.T) {
	s := serve(t, Limits{})
	with := func(fields int) string {
		return "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("a:\n", fields-1) + "\r\n"
	}
	within := dial(t, "127.0.0.1", s.address)
	within.send(with(maxFields))
	if status, _ := within.receive(); status != http.StatusOK {
		t.Errorf("%d fields: %d", maxFields, status)
	}
	for name, header := range map[string]string{
		"complete":              with(maxFields + 1),
		"unfinished":            strings.TrimSuffix(with(maxFields+1), "\r\n"),
		"endless":               with(30_000),
		"folded":                "GET / HTTP/1.1\r\nHost: x\r\na: b\r\n" + strings.Repeat(" c\r\n", maxFields) + "\r\n",
		"after an empty line":   "POST" + request[3:] + "\r\n" + with(30_000),
		"after another request": request + with(30_000), // the server's buffer has the first fields
	} {
		c := dial(t, "127.0.0.1", s.address)
		_, _ = io.WriteString(c, header) // the server may close before it has read all
		reply, _ := io.ReadAll(c)
		if !strings.Contains(string(reply), "431 Request Header Fields Too Large\r\n") {
			t.Errorf("%s: %s", name, reply)
		}
	}
}

func TestOnlyTheLinesOfAHeaderCount(t *testing.T) {
	s := serve(t, Limits{})
	c := dial(t, "127.0.0.1", s.address)
	body := strings.Repeat("a\n", 3000) // longer than the server's buffer
	for range 3 {
		c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6000\r\n\r\n" + body)
		if status, got := c.receive(); status != http.StatusOK || got != body {
			t.Fatalf("got %d and %d bytes", status, len(got))
		}
	}
	c.send(strings.Repeat(request, 20)) // without waiting for replies
	for range 20 {
		if status, _ := c.receive(); status != http.StatusOK {
			t.Errorf("got %d", status)
		}
	}
}
