package mtls

import (
	"context"
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
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
	return credentials.NewTLS(c.identity.current().config()).ClientHandshake(ctx, authority, conn)
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
