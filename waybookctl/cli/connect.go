package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/clients"
	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/process"
)

// Connection says how to reach the services: by mutual TLS with the given certificate, like any
// other client, or in plain text when there is none.
type Connection struct {
	Address string        `twin:"" default:"${address}" placeholder:"ADDRESS" help:"Services: HOST:PORT or unix:PATH."`
	Account string        `twin:"" placeholder:"ADDRESS" help:"Account service, if it is elsewhere."`
	Album   string        `twin:"" placeholder:"ADDRESS" help:"Album service, if it is elsewhere."`
	Blog    string        `twin:"" placeholder:"ADDRESS" help:"Blog service, if it is elsewhere."`
	Poi     string        `twin:"" placeholder:"ADDRESS" help:"POI service, if it is elsewhere."`
	Timeout time.Duration `twin:"" default:"10s" placeholder:"DURATION" help:"Timeout of one call; ${default} by default."`

	TLSCert       string `twin:"" name:"tls-cert" placeholder:"FILE" help:"Certificate to present, in PEM."`
	TLSKey        string `twin:"" name:"tls-key" placeholder:"FILE" help:"The certificate's private key."`
	TLSCA         string `twin:"" name:"tls-ca" placeholder:"FILE" help:"Authorities of the services' certificates."`
	TLSServerName string `twin:"" name:"tls-server-name" placeholder:"NAME" help:"Name in the service's certificate."`
	Plaintext     bool   `twin:"" help:"Allow other machines without TLS."`
}

// The sockets of a standalone: of one that was started in this directory, and of the package.
const (
	ownSocket      = "waybook-data/grpc.sock"
	packagedSocket = "/var/lib/waybook/grpc.sock"
)

// defaultAddress is that of the first socket that exists, or may exist where this user cannot
// look.
func defaultAddress() string { return "unix:" + firstThere(ownSocket, packagedSocket) }

// firstThere returns the first path with a file, or the first path if there is none.
func firstThere(paths ...string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return paths[0]
}

// services are the clients of the four services.
type services struct {
	clients.Clients
	// links are the connections, by service.
	links map[string]*link
}

// connect creates the clients. It opens no connection before the first call.
func connect(to Connection, env process.Env) (*services, error) {
	if to.Timeout <= 0 {
		return nil, usageError("--timeout must be greater than 0")
	}
	transport, err := process.TransportFlags{
		Files:     mtls.Files{Certificate: to.TLSCert, Key: to.TLSKey, Authorities: to.TLSCA},
		PlainText: to.Plaintext,
	}.Load(env.Log)
	if err != nil {
		return nil, usageError(twoDashes(err))
	}
	env.Transport = transport
	var options []grpc.DialOption
	if to.TLSServerName != "" {
		options = append(options, grpc.WithAuthority(to.TLSServerName))
	}
	links := map[string]*link{}
	for _, each := range []struct{ service, own string }{
		{"account", to.Account}, {"album", to.Album}, {"blog", to.Blog}, {"poi", to.Poi},
	} {
		address, flag := each.own, each.service
		if address == "" {
			address, flag = to.Address, "address"
		}
		if address == "" {
			return nil, usageError("--address must be HOST:PORT or unix:PATH, and is empty")
		}
		connection, err := env.Dial(flag, address, options...)
		if err != nil {
			return nil, usageError(twoDashes(err))
		}
		links[each.service] = &link{connection, each.service, address, to.Timeout}
	}
	return &services{
		Clients: clients.Of(links["account"], links["album"], links["blog"], links["poi"]),
		links:   links,
	}, nil
}

// twoDashes writes flags in an error with two dashes, as this program does; the other programs use
// one dash.
func twoDashes(err error) string {
	return strings.ReplaceAll(" "+err.Error(), " -", " --")[1:]
}

// link is a connection that adds the service and its address to failures.
type link struct {
	connection grpc.ClientConnInterface
	service    string
	address    string
	timeout    time.Duration
}

// callError is a call that failed.
type callError struct {
	*link
	cause error
}

// Error names the service; describe composes the message for people.
func (e *callError) Error() string { return e.service + " service: " + e.cause.Error() }

func (e *callError) Unwrap() error { return e.cause }

// Invoke calls within the timeout.
func (l *link) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	if err := l.connection.Invoke(ctx, method, args, reply, opts...); err != nil {
		return &callError{l, err}
	}
	return nil
}

// NewStream opens a stream. The timeout does not apply to streams.
func (l *link) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string,
	opts ...grpc.CallOption) (grpc.ClientStream, error) {
	begun, err := l.connection.NewStream(ctx, desc, method, opts...)
	if err != nil {
		return nil, &callError{l, err}
	}
	return &stream{begun, l}, nil
}

type stream struct {
	grpc.ClientStream
	link *link
}

// RecvMsg receives a message, and reports a failed stream as a callError.
func (s *stream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &callError{s.link, err}
}
