//go:build linux

package rolling

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/pause"
)

// crowdSize is the number of clients of a crowd. Each has one connection, which it keeps.
const crowdSize = 50

// crowd is a set of clients that send requests at a constant rate over connections that they keep,
// and repeat none. A client connects to an edge that is known to be ready, and stays until the edge
// closes the connection.
type crowd struct {
	registry *registry
	requests []request
	// pause is the time between two requests of a client.
	pause  time.Duration
	cancel context.CancelFunc
	busy   sync.WaitGroup

	mu   sync.Mutex
	seen observations
}

// observations are what a crowd sees.
type observations struct {
	sent    int
	slowest time.Duration
	// dialed counts attempts to connect, refused those that an edge did not accept, and cut
	// connections that an edge closed, while they were idle, without an announcement. A client may be
	// sending at that moment.
	dialed, refused, cut int
	failures             []failure
}

// request is a request as bytes, and a text that its reply has.
type request struct{ bytes, want string }

// failure is a request without the right reply.
type failure struct {
	began, ended time.Time
	edge         netip.AddrPort
	err          error
}

func get(form, want string) request {
	return request{"GET /API.php?" + form + " HTTP/1.1\r\nHost: waybook\r\n\r\n", want}
}

func post(form, cookie, want string) request {
	return request{fmt.Sprintf("POST /API.php HTTP/1.1\r\nHost: waybook\r\nCookie: %s\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
		"Content-Length: %d\r\n\r\n%s", cookie, len(form), form), want}
}

// mixture returns requests to all services: reads, half as many that need a session and change
// nothing, and a few that write.
func mixture(reads, cookies []string) (mixed []request) {
	const success = "<status>SUCCESS</status>"
	for n, cookie := range cookies {
		for _, form := range reads {
			mixed = append(mixed, get(form, success))
		}
		mixed = append(mixed, post("func=addComment&albumID=1&comment=x", cookie, "X-Waybook-Reason: ALBUM_NOT_FOUND"))
		if n%10 == 0 {
			mixed = append(mixed, post("func=addAlbum&albumTitle=x&category=1&lat=25&lng=121", cookie, success))
		}
	}
	return mixed
}

// startCrowd starts clients that send a number of requests per second together.
func startCrowd(t *testing.T, r *registry, requests []request, rate int) *crowd {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &crowd{registry: r, requests: requests, pause: time.Second * crowdSize / time.Duration(rate), cancel: cancel}
	for n := range crowdSize {
		c.busy.Go(func() { c.send(ctx, n) })
	}
	t.Cleanup(func() { c.stop() })
	return c
}

// stop ends the clients after their requests in flight.
func (c *crowd) stop() {
	c.cancel()
	c.busy.Wait()
}

// send sends one request after another, beginning with one of its own.
func (c *crowd) send(ctx context.Context, n int) {
	client := &client{crowd: c, next: n}
	defer client.leave()
	due := time.Now().Add(c.pause * time.Duration(n) / crowdSize)
	for pause.For(ctx, time.Until(due)) == nil {
		if due = due.Add(c.pause); time.Since(due) > c.pause {
			due = time.Now() // a client that is late does not catch up
		}
		began := time.Now()
		edge, err := client.request(ctx, c.requests[(n*7+client.sent)%len(c.requests)])
		client.sent++
		c.count(failure{began, time.Now(), edge, err})
	}
}

func (c *crowd) count(f failure) {
	c.note(func(seen *observations) {
		seen.sent++
		seen.slowest = max(seen.slowest, f.ended.Sub(f.began))
		if f.err != nil {
			seen.failures = append(seen.failures, f)
		}
	})
}

func (c *crowd) note(change func(*observations)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.seen)
}

// lap returns the observations since the last lap.
func (c *crowd) lap() (seen observations) {
	c.note(func(now *observations) { seen, *now = *now, observations{} })
	return seen
}

// awaitService waits until each client has sent another request, on average.
func (c *crowd) awaitService(t *testing.T) {
	t.Helper()
	sent := func() (sent int) {
		c.note(func(seen *observations) { sent = seen.sent })
		return sent
	}
	before := sent()
	await(t, func() bool { return sent() >= before+crowdSize })
}

// client is one client of a crowd.
type client struct {
	crowd      *crowd
	next, sent int
	edge       netip.AddrPort
	connection net.Conn
	reader     *bufio.Reader
}

// request sends a request and checks its reply. It returns the edge that got it.
func (c *client) request(ctx context.Context, r request) (netip.AddrPort, error) {
	if c.connection != nil && isClosed(c.connection) {
		c.crowd.note(func(seen *observations) { seen.cut++ })
		c.leave()
	}
	if c.connection == nil {
		if err := c.connect(ctx); err != nil {
			return netip.AddrPort{}, err
		}
	}
	edge := c.edge
	if err := c.exchange(r); err != nil {
		c.leave()
		return edge, err
	}
	return edge, nil
}

// connect connects to an edge, to another one if one refuses.
func (c *client) connect(ctx context.Context) error {
	known := c.crowd.registry.known("edge")
	var failed error
	for range known {
		c.next++
		c.edge = known[c.next%len(known)]
		c.crowd.note(func(seen *observations) { seen.dialed++ })
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", c.edge.String())
		if err == nil {
			c.connection, c.reader = connection, bufio.NewReader(connection)
			return nil
		}
		failed = errors.Join(failed, err)
		c.crowd.note(func(seen *observations) { seen.refused++ })
	}
	return errors.Join(errors.New("no edge accepts a connection"), failed)
}

func (c *client) exchange(r request) error {
	_ = c.connection.SetDeadline(time.Now().Add(patience)) // instead of a test that hangs
	if _, err := io.WriteString(c.connection, r.bytes); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	reply, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	if reply.Close {
		c.leave()
	}
	if !strings.Contains(string(body), r.want) && "X-Waybook-Reason: "+reply.Header.Get("X-Waybook-Reason") != r.want {
		return fmt.Errorf("%s: %s %s", strings.SplitN(r.bytes, "\r\n", 2)[0], reply.Status, body)
	}
	return nil
}

// leave closes the connection.
func (c *client) leave() {
	if c.connection != nil {
		_ = c.connection.Close()
		c.connection = nil
	}
}

// isClosed reports whether the other end has closed an idle connection, as a proxy knows too.
func isClosed(connection net.Conn) bool {
	raw, err := connection.(*net.TCPConn).SyscallConn()
	if err != nil {
		return true
	}
	var n int
	var failed error
	err = raw.Read(func(descriptor uintptr) bool {
		n, _, failed = syscall.Recvfrom(int(descriptor), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return err != nil || n == 0 && !errors.Is(failed, syscall.EAGAIN)
}
