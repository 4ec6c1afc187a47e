package mtls

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/waybook/waybook/internal/platform/devca"
)

const day = 24 * time.Hour

// clock is a clock that tests advance.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) advance(d time.Duration) { c.offset.Add(int64(d)) }

func newAuthority(t *testing.T) *devca.Authority {
	t.Helper()
	made, err := devca.New("test", time.Now(), day)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// write issues a certificate and writes the files of an identity that trusts the given
// authorities.
func write(t *testing.T, files Files, by *devca.Authority, name string, lifetime time.Duration, trusted ...*devca.Authority) {
	t.Helper()
	pair, err := by.Issue([]string{name, "127.0.0.1"}, time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	var authorities []byte
	for _, each := range trusted {
		own, err := each.Pair()
		if err != nil {
			t.Fatal(err)
		}
		authorities = append(authorities, own.Certificate...)
	}
	for path, contents := range map[string][]byte{files.Certificate: pair.Certificate, files.Key: pair.Key, files.Authorities: authorities} {
		if err := os.WriteFile(path, contents, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func newFiles(t *testing.T) Files {
	folder := t.TempDir()
	return Files{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"), filepath.Join(folder, "ca.crt")}
}

func mustLoad(t *testing.T, files Files, now func() time.Time) *Identity {
	t.Helper()
	loaded, err := load(files, slog.New(slog.DiscardHandler), now)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// serveHealth serves the health service and returns its address. It keeps the names of the
// clients that call.
func serveHealth(t *testing.T, identity *Identity) (address string, callers *names) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	callers = &names{}
	server := grpc.NewServer(grpc.Creds(identity.Server()), grpc.UnaryInterceptor(callers.keep))
	healthv1.RegisterHealthServer(server, health.NewServer())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // returns after Stop
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return listener.Addr().String(), callers
}

// names are the names that PeerNames has returned, one call after the other.
type names struct {
	mu   sync.Mutex
	seen []string
}

func (n *names) keep(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	n.mu.Lock()
	n.seen = append(n.seen, strings.Join(PeerNames(ctx), " "))
	n.mu.Unlock()
	return handler(ctx, request)
}

func (n *names) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen
}

// call calls the health service over a new connection.
func call(t *testing.T, address string, options ...grpc.DialOption) error {
	t.Helper()
	connection, err := grpc.NewClient(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = healthv1.NewHealthClient(connection).Check(ctx, &healthv1.HealthCheckRequest{})
	return err
}

func TestOnlyClientsWithATrustedCertificateAreServed(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	serverFiles := newFiles(t)
	write(t, serverFiles, ours, "album", day, ours)
	address, callers := serveHealth(t, mustLoad(t, serverFiles, time.Now))

	for _, c := range []struct {
		what     string
		by       *devca.Authority
		name     string
		lifetime time.Duration
		trusted  *devca.Authority
		code     codes.Code
	}{
		{"with the right certificate", ours, "edge", day, ours, codes.OK},
		{"expired", ours, "edge", -time.Minute, ours, codes.Unavailable},
		{"with another authority", other, "edge", day, ours, codes.Unavailable},
		{"that trusts another authority", ours, "edge", day, other, codes.Unavailable},
	} {
		files := newFiles(t)
		write(t, files, c.by, c.name, c.lifetime, c.trusted)
		err := call(t, address, grpc.WithTransportCredentials(mustLoad(t, files, time.Now).Client()))
		if status.Code(err) != c.code {
			t.Errorf("a client %s: %v", c.what, err)
		}
	}
	if err := call(t, address, grpc.WithTransportCredentials(insecure.NewCredentials())); status.Code(err) != codes.Unavailable {
		t.Errorf("a client without TLS: %v", err)
	}
	if seen := callers.all(); !slices.Equal(seen, []string{"edge"}) {
		t.Errorf("the callers were %q", seen)
	}
	if names := PeerNames(t.Context()); names != nil {
		t.Errorf("a call without a connection comes from %q", names)
	}
}

func TestTheCertificateOfAServicePassesForNoOther(t *testing.T) {
	ours := newAuthority(t)
	stolen, files := newFiles(t), newFiles(t)
	write(t, stolen, ours, "poi", day, ours)
	write(t, files, ours, "edge", day, ours)
	address, callers := serveHealth(t, mustLoad(t, stolen, time.Now))
	for service, want := range map[string]codes.Code{"poi": codes.OK, "account": codes.Unavailable} {
		err := call(t, address, grpc.WithTransportCredentials(mustLoad(t, files, time.Now).Client()), grpc.WithAuthority(service))
		if status.Code(err) != want {
			t.Errorf("a client of %s: %v, want %v", service, err, want)
		}
	}
	if seen := callers.all(); len(seen) != 1 {
		t.Errorf("%d calls arrived, want 1", len(seen))
	}
}

func TestARefusedClientLearnsTheReason(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	serverFiles, clientFiles := newFiles(t), newFiles(t)
	write(t, serverFiles, ours, "album", day, ours)
	write(t, clientFiles, other, "edge", day, ours)
	address, _ := serveHealth(t, mustLoad(t, serverFiles, time.Now))
	client := mustLoad(t, clientFiles, time.Now).Client()
	for range 20 { // the alert and the end of the connection race with the client's first write
		if err := call(t, address, grpc.WithTransportCredentials(client)); err == nil || !strings.Contains(err.Error(), "remote error: tls: ") {
			t.Fatalf("the client learns %v", err)
		}
	}
}

// A server that ends sends its last replies before it closes. The client still gets them, also if it
// was writing at that moment.
func TestAFailedWriteTakesNothingFromTheReader(t *testing.T) {
	authority, serverFiles, clientFiles := newAuthority(t), newFiles(t), newFiles(t)
	write(t, serverFiles, authority, "album", day, authority)
	write(t, clientFiles, authority, "edge", day, authority)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			conn, _, err = mustLoad(t, serverFiles, time.Now).Server().ServerHandshake(conn)
		}
		if err == nil {
			_, err = conn.Write([]byte("ab"))
		}
		ended <- errors.Join(err, conn.Close(), listener.Close())
	}()
	plain, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := mustLoad(t, clientFiles, time.Now).Client().ClientHandshake(t.Context(), "album", plain)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var one [1]byte
	if _, err := conn.Read(one[:]); err != nil || one[0] != 'a' {
		t.Fatalf("read %q, %v", one, err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = conn.Write(make([]byte, 1024))
	}
	if _, err := conn.Read(one[:]); err != nil || one[0] != 'b' {
		t.Errorf("after the failed write: read %q, %v", one, err)
	}
}

func TestReplacedFilesTakeEffectWithoutAFailedCall(t *testing.T) {
	old, young := newAuthority(t), newAuthority(t)
	var time clock
	serverFiles, clientFiles := newFiles(t), newFiles(t)
	write(t, serverFiles, old, "album", day, old)
	write(t, clientFiles, old, "edge", day, old)
	server, client := mustLoad(t, serverFiles, time.now), mustLoad(t, clientFiles, time.now)
	address, _ := serveHealth(t, server)
	secured := grpc.WithTransportCredentials(client.Client())

	// The steps replace an authority: first both are trusted, then the new one issues the
	// certificates, then the old one is removed.
	steps := []func(){
		func() { write(t, serverFiles, old, "album", day, old, young) },
		func() { write(t, clientFiles, old, "edge", day, old, young) },
		func() { write(t, serverFiles, young, "album", day, old, young) },
		func() { write(t, clientFiles, young, "edge", day, old, young) },
		func() { write(t, serverFiles, young, "album", day, young) },
		func() { write(t, clientFiles, young, "edge", day, young) },
	}
	for n, step := range steps {
		step()
		time.advance(recheckAfter)
		if err := call(t, address, secured); err != nil {
			t.Fatalf("after step %d: %v", n+1, err)
		}
	}
	stale := newFiles(t)
	write(t, stale, old, "edge", day, young)
	if err := call(t, address, grpc.WithTransportCredentials(mustLoad(t, stale, time.now).Client())); status.Code(err) != codes.Unavailable {
		t.Errorf("a certificate of the removed authority: %v", err)
	}
}

func TestIncompletelyReplacedFilesLeaveTheOldOnesInUse(t *testing.T) {
	ours := newAuthority(t)
	var time clock
	files := newFiles(t)
	write(t, files, ours, "album", day, ours)
	identity := mustLoad(t, files, time.now)
	before := identity.Expiry()

	other := newFiles(t)
	write(t, other, ours, "album", 2*day, ours)
	for _, change := range []func() error{
		func() error { return os.Rename(other.Certificate, files.Certificate) }, // the key is still the old one
		func() error { return os.Remove(files.Authorities) },
		func() error { return os.WriteFile(files.Authorities, []byte("nothing"), 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		time.advance(recheckAfter)
		if !identity.Expiry().Equal(before) {
			t.Error("an incomplete change took effect")
		}
	}
	for from, to := range map[string]string{other.Key: files.Key, other.Authorities: files.Authorities} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	time.advance(recheckAfter)
	if identity.Expiry().Equal(before) {
		t.Error("the complete change did not take effect")
	}
}

func TestInvalidIdentityFilesAreRefusedAtStartup(t *testing.T) {
	ours := newAuthority(t)
	whole := newFiles(t)
	write(t, whole, ours, "album", day, ours)
	nameless := newFiles(t)
	write(t, nameless, ours, "127.0.0.2", day, ours)
	for want, files := range map[string]Files{
		"go together":    {Certificate: whole.Certificate, Key: whole.Key},
		"-tls-key":       {whole.Certificate, whole.Key + "x", whole.Authorities},
		"no certificate": {whole.Certificate, whole.Key, whole.Key},
		"no DNS name":    nameless,
	} {
		if _, err := Load(files, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q", files, err, want)
		}
	}
	if none, err := Load(Files{}, nil); none != nil || err != nil {
		t.Errorf("without files: got %v, %v, want nil", none, err)
	}
}
