// Package mtls provides mutual TLS 1.3 between Waybook's processes. The identity of a
// process is a set of PEM files: its certificate, its key, and the authorities that it
// trusts. When a file changes, the next connection uses the new contents.
package mtls

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// recheckAfter is the minimum time between two checks of the files for changes.
const recheckAfter = time.Second

// Files are the paths of the files of an identity.
type Files struct {
	// Certificate may be followed by intermediate certificates in the same file. Clients
	// verify its DNS names when they connect, and services check them against Clients.
	Certificate, Key string
	// Authorities has the certificates of the trusted authorities.
	Authorities string
}

func (f *Files) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.Certificate, "tls-cert", "",
		"`file` with this process's certificate, in PEM; read again when it changes")
	flags.StringVar(&f.Key, "tls-key", "", "`file` with the private key of the certificate, in PEM")
	flags.StringVar(&f.Authorities, "tls-ca", "",
		"`file` with the certificates of the authorities that issue the other processes' certificates, in PEM")
}

// Identity is the identity of a process, loaded from files. It may be used concurrently.
type Identity struct {
	files Files
	log   *slog.Logger
	now   func() time.Time

	mu sync.Mutex
	// checked is when the files were last read. contents are those of the last valid read.
	checked  time.Time
	contents [3][]byte
	inUse    *material
}

// material is the parsed contents of the files, for handshakes.
type material struct {
	certificate tls.Certificate
	authorities *x509.CertPool
}

// Load loads an identity. It returns nil if no file is given.
func Load(files Files, log *slog.Logger) (*Identity, error) {
	return load(files, log, time.Now)
}

func load(files Files, log *slog.Logger, now func() time.Time) (*Identity, error) {
	if files == (Files{}) {
		return nil, nil
	}
	if files.Certificate == "" || files.Key == "" || files.Authorities == "" {
		return nil, errors.New("-tls-cert, -tls-key and -tls-ca go together; give all three or none")
	}
	contents, err := files.read()
	if err != nil {
		return nil, err
	}
	loaded, err := files.parse(contents)
	if err != nil {
		return nil, err
	}
	return &Identity{files: files, log: log, now: now, checked: now(), contents: contents, inUse: loaded}, nil
}

// current returns the contents of the files. If they are invalid, for example because only
// some of the files have been replaced, it returns the last valid contents.
func (i *Identity) current() *material {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now().Sub(i.checked) < recheckAfter {
		return i.inUse
	}
	i.checked = i.now()
	contents, err := i.files.read()
	if err == nil {
		if slices.EqualFunc(contents[:], i.contents[:], bytes.Equal) {
			return i.inUse
		}
		var changed *material
		if changed, err = i.files.parse(contents); err == nil {
			i.contents, i.inUse = contents, changed
			i.log.Info("reloaded the TLS files", "expires", changed.certificate.Leaf.NotAfter)
		}
	}
	if err != nil {
		i.log.Error("failed to reload the TLS files; the previous ones stay in use", "error", err)
	}
	return i.inUse
}

// Expiry returns when the current certificate expires.
func (i *Identity) Expiry() time.Time { return i.current().certificate.Leaf.NotAfter }

func (f Files) read() (contents [3][]byte, err error) {
	for n, file := range []struct{ flag, path string }{
		{"-tls-cert", f.Certificate}, {"-tls-key", f.Key}, {"-tls-ca", f.Authorities},
	} {
		if contents[n], err = os.ReadFile(file.path); err != nil {
			return contents, fmt.Errorf("%s: %w", file.flag, err)
		}
	}
	return contents, nil
}

func (f Files) parse(contents [3][]byte) (*material, error) {
	certificate, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("-tls-cert %s and -tls-key %s: %w", f.Certificate, f.Key, err)
	}
	if len(certificate.Leaf.DNSNames) == 0 {
		return nil, fmt.Errorf("-tls-cert %s: the certificate has no DNS name; other processes identify its "+
			"owner by one", f.Certificate)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(contents[2]) {
		return nil, fmt.Errorf("-tls-ca %s: no certificate in PEM format", f.Authorities)
	}
	return &material{certificate, authorities}, nil
}

// Server returns credentials that accept only clients with a certificate of a trusted
// authority.
func (i *Identity) Server() credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			config := i.current().config()
			config.ClientAuth = tls.RequireAndVerifyClientCert
			return config, nil
		},
	})
}

// Client returns credentials that accept only a server with a certificate of a trusted
// authority for the name that the client dialed.
func (i *Identity) Client() credentials.TransportCredentials {
	return client{credentials.NewTLS(i.current().config()), i}
}

// client uses the current contents of the files for each handshake. A tls.Config alone
// cannot do that for the authorities.
type client struct {
	credentials.TransportCredentials
	identity *Identity
}

func (c client) ClientHandshake(ctx context.Context, authority string,
	conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := credentials.NewTLS(c.identity.current().config()).ClientHandshake(ctx, authority, conn)
	if err != nil {
		return nil, nil, err
	}
	return &refusable{Conn: secured}, info, nil
}

// refusable is a client's connection. In TLS 1.3 a server refuses a client's certificate after the
// client's handshake: it sends an alert and closes. A write may then fail before the alert is
// read.
type refusable struct {
	net.Conn
	// isAccepted is set once the server has sent data, which it does to accepted clients only.
	isAccepted atomic.Bool
}

func (c *refusable) Read(data []byte) (int, error) {
	n, err := c.Conn.Read(data)
	if n > 0 {
		c.isAccepted.Store(true)
	}
	return n, err
}

// Write writes, and returns the alert if one explains why the other side no longer reads. To an
// accepted client the other side may have sent replies before it closed, so nothing is read then.
func (c *refusable) Write(data []byte) (int, error) {
	n, err := c.Conn.Write(data)
	if !c.isAccepted.Load() && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)) {
		// The connection is reset, so that this does not block.
		var alert *net.OpError
		if _, cause := c.Read(make([]byte, 1)); errors.As(cause, &alert) && alert.Op == "remote error" {
			return n, alert
		}
	}
	return n, err
}

func (c client) Clone() credentials.TransportCredentials {
	return client{c.TransportCredentials.Clone(), c.identity}
}

func (m *material) config() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{"h2"},
		Certificates: []tls.Certificate{m.certificate},
		RootCAs:      m.authorities,
		ClientCAs:    m.authorities,
	}
}

// PeerNames returns the DNS names in the verified certificate of a call's client. It returns
// none if the client has shown no certificate.
func PeerNames(ctx context.Context) []string {
	client, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	info, ok := client.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return nil
	}
	return info.State.VerifiedChains[0][0].DNSNames
}
