package mtls

import (
	"context"
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
)

// Server returns credentials that let in only clients for whom an authority vouches.
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

// Client returns credentials that accept only a server for whom an authority vouches
// under the name by which it is called.
func (i *Identity) Client() credentials.TransportCredentials {
	return client{credentials.NewTLS(i.current().config()), i}
}

// client makes each handshake with the files as they are then, which a tls.Config can't
// do for the authorities.
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
