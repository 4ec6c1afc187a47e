package world

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/storetest"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
)

// worldsForCertificates is how many clusters there are for one whose calls use mutual TLS.
const worldsForCertificates = 4

const (
	// certificateLife is how long a certificate is valid. One that is about to expire is renewed, as cert-manager
	// does at two thirds of its life.
	certificateLife = 24 * time.Hour
	// idleTime is how long a connection stays open without calls. The next call uses the certificates of its time.
	idleTime = time.Minute
	// reconnectTime is longer than a client waits between two attempts to connect.
	reconnectTime = 5 * time.Second
)

// holder is who has a certificate: the edge and the internal callers of a program, or its services.
type holder struct {
	names   []string
	files   mtls.Files
	expires time.Time
}

// certificates are those of a cluster, with their operator.
type certificates struct {
	*cluster
	authority *devca.Authority
	trusted   []*devca.Authority
	// holders are those of the program in place 0, then of that in place 1.
	holders [4]*holder
}

func newCertificates(c *cluster) *certificates {
	all := &certificates{cluster: c}
	all.authority = all.newAuthority()
	all.trusted = []*devca.Authority{all.authority}
	directory := storetest.FastDirectory(c.t)
	for n := range all.holders {
		h := &holder{names: []string{"edge", access.Operator}}
		if n%2 > 0 {
			h.names = []string{"services", "account", "album", "blog", "poi"}
		}
		path := func(name string) string { return filepath.Join(directory, strconv.Itoa(n)+name) }
		h.files = mtls.Files{Certificate: path("tls.crt"), Key: path("tls.key"), Authorities: path("ca.crt")}
		all.holders[n] = h
		all.trust(h)
		all.renew(h, func() {})
	}
	return all
}

func (c *certificates) newAuthority() *devca.Authority {
	made, err := devca.New("world", time.Now(), 10*365*24*time.Hour)
	c.must(err)
	return made
}

func (c *certificates) write(path string, contents []byte) {
	c.must(os.WriteFile(path, contents, 0o600))
}

// renew gives a holder a certificate. between happens when only one of its two files is there.
func (c *certificates) renew(h *holder, between func()) {
	issued, err := c.authority.Issue(h.names, time.Now(), certificateLife)
	c.must(err)
	c.write(h.files.Certificate, issued.Certificate)
	between()
	c.write(h.files.Key, issued.Key)
	h.expires = time.Now().Add(certificateLife)
}

// trust makes a holder trust the authorities of now.
func (c *certificates) trust(h *holder) {
	var all []byte
	for _, each := range c.trusted {
		own, err := each.Pair()
		c.must(err)
		all = append(all, own.Certificate...)
	}
	c.write(h.files.Authorities, all)
}

// renewSoon renews the certificates that would expire before two more such spans of time have passed.
func (c *certificates) renewSoon(span time.Duration) {
	for _, h := range c.holders {
		if time.Until(h.expires) < max(certificateLife/3, 2*span) {
			c.renew(h, func() {})
		}
	}
}

// operate replaces certificates in one of three ways. Connections that were open have ended before clients act, so
// that each call uses the files of its time.
func (c *certificates) operate() {
	if c.calm(); c.mayUndo {
		c.settle()
	}
	switch c.random.IntN(3) {
	case 0:
		time.Sleep(reconnectTime) // so that a program looks, which it does once a second at most
		c.scrape()
		c.note("certificates are renewed")
		c.each(func(h *holder) { c.renew(h, c.actAnew) })
	case 1:
		c.note("the authority is replaced")
		former := c.authority
		c.authority = c.newAuthority()
		c.trusted = []*devca.Authority{former, c.authority}
		c.each(c.trust)
		c.each(func(h *holder) { c.renew(h, func() {}) })
		c.trusted = c.trusted[1:]
		c.each(c.trust)
	case 2:
		c.expire()
	}
}

// each does something for each holder in any order, and lets clients act after some.
func (c *certificates) each(do func(*holder)) {
	for _, n := range c.random.Perm(len(c.holders)) {
		do(c.holders[n])
		if c.random.IntN(2) == 0 {
			c.actAnew()
		}
	}
	c.actAnew()
}

// actAnew lets a client act over new connections.
func (c *certificates) actAnew() {
	time.Sleep(2 * idleTime)
	u := c.users[c.random.IntN(len(c.users))]
	c.turns.run(c.random, []func(){func() { c.act(u) }})
}

// expire lets some certificates expire before they are renewed. Each call that needs one fails then, and all others
// succeed. After the renewal, all succeed without a restart.
func (c *certificates) expire() {
	expired := map[int]bool{}
	for n, h := range c.holders {
		c.renew(h, func() {})
		expired[n] = c.random.IntN(2) == 0
	}
	c.note("certificates expire: %v", expired)
	time.Sleep(certificateLife - time.Hour)
	for n, h := range c.holders {
		if !expired[n] {
			c.renew(h, func() {})
		}
	}
	time.Sleep(time.Hour + idleTime + c.upTo(certificateLife/2))
	c.isLate = true
	c.judge()
	for place, m := range c.members {
		_, err := m.Account.GetUser(context.Background(), &accountv1.GetUserRequest{UserId: c.users[0].id})
		want := codes.OK
		if expired[2*place] || expired[2*place+1] {
			want = codes.Unavailable
		}
		if status.Code(err) != want {
			c.violated("a call in place %d: %v, want %v", place, err, want)
		}
	}
	c.together()
	for n, h := range c.holders {
		if expired[n] {
			c.renew(h, func() {})
		}
	}
	time.Sleep(reconnectTime)
	c.isLate = false
	c.judge()
	c.note("all certificates are renewed")
	c.together()
}

// wire connects the parts of a program by mutual TLS, as if they were processes.
type wire struct {
	listener       *bufconn.Listener
	edge, services mtls.Files
	// identities are those of its ends.
	identities []*mtls.Identity
}

// scrape looks at the expiry of the certificates in use, as a scrape of the metrics does. So files that are valid are
// in use before half of the next ones is there.
func (w *wire) scrape() {
	for _, each := range w.identities {
		each.Expiry()
	}
}

// scrape looks at the certificates of all members. It comes before a renewal that programs may see half done.
func (c *cluster) scrape() {
	for _, m := range c.members {
		m.wire.scrape()
	}
}

// wireIn returns the wire of the next program in a place.
func (c *certificates) wireIn(place int) *wire {
	return &wire{listener: bufconn.Listen(64 << 10), edge: c.holders[2*place].files, services: c.holders[2*place+1].files}
}

// dial connects to the services of the program with an identity.
func (w *wire) dial(env process.Env, files mtls.Files) (conn grpc.ClientConnInterface, err error) {
	if env.Transport, err = (process.TransportFlags{Files: files}).Load(env.Log); err != nil {
		return nil, err
	}
	w.identities = append(w.identities, env.Transport.Identity)
	// gRPC would wait for a random time before each retry, which no seed repeats.
	return env.Dial("services", "passthrough:///services", grpc.WithDisableRetry(), grpc.WithIdleTimeout(idleTime),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return w.listener.DialContext(ctx) }),
		grpc.WithChainUnaryInterceptor(func(
			ctx context.Context, method string, request, reply any, on *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption,
		) error {
			return call(withClient(ctx), method, request, reply, on, options...)
		}))
}

// serve serves the services to callers that the contracts admit.
func (w *wire) serve(env process.Env, interceptors *service.Interceptors, services []service.Service) error {
	rules, err := access.Contracts()
	if err != nil {
		return err
	}
	if env.Transport, err = (process.TransportFlags{Files: w.services}).Load(env.Log); err != nil {
		return err
	}
	w.identities = append(w.identities, env.Transport.Identity)
	service.Serve(env, "gRPC", w.listener, access.NewPolicy(rules, nil), interceptors, service.Copied{}, services...)
	return nil
}

// clientMetadata names the client of a call between processes.
const clientMetadata = "world-client"

func withClient(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, clientMetadata, strconv.Itoa(clientOf(ctx)))
}

// clientOf returns the number of the client on whose behalf a call is made.
func clientOf(ctx context.Context) int {
	if client, isKnown := ctx.Value(clientKey{}).(int); isKnown {
		return client
	}
	for _, text := range metadata.ValueFromIncomingContext(ctx, clientMetadata) {
		client, _ := strconv.Atoi(text)
		return client
	}
	return 0
}
