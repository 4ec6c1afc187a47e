package mtls

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
	"syscall"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

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

func (c client) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := credentials.NewTLS(c.identity.current().config()).ClientHandshake(ctx, authority, conn)
	if err != nil {
		return nil, nil, err
	}
	return &refusable{Conn: secured}, info, nil
}

// refusable is a client's connection. In TLS 1.3 a server refuses a client's certificate after the
// client's handshake: it sends an alert and closes. A write may then fail before the alert is read.
type refusable struct {
	net.Conn
	// isAccepted is set once the server has sent data, which it does to accepted clients only.
	isAccepted atomic.Bool
}

// Read reads.
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
