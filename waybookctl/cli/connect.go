package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/platform/mtls"
	"github.com/waybook/waybook/internal/platform/process"
	"github.com/waybook/waybook/moving/send"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Connection says how to reach the services: by mutual TLS with the given certificate, like any
// other client, or in plain text when there is none.
type Connection struct {
	Address string        `twin:"" default:"unix:waybook-data/grpc.sock" placeholder:"ADDRESS" help:"Address of the services, HOST:PORT or unix:PATH. ${default} by default, on which standalone serves all four."`
	Account string        `twin:"" placeholder:"ADDRESS" help:"Address of the account service, if different."`
	Album   string        `twin:"" placeholder:"ADDRESS" help:"Address of the album service, if different."`
	Blog    string        `twin:"" placeholder:"ADDRESS" help:"Address of the blog service, which keeps entries, if different."`
	Poi     string        `twin:"" placeholder:"ADDRESS" help:"Address of the POI service, which keeps landmarks, if different."`
	Timeout time.Duration `twin:"" default:"10s" placeholder:"DURATION" help:"Timeout of one call; a long list takes several calls. ${default} by default."`

	TLSCert       string `twin:"" name:"tls-cert" placeholder:"FILE" help:"Certificate to present to services, in PEM; services accept the name operator."`
	TLSKey        string `twin:"" name:"tls-key" placeholder:"FILE" help:"The certificate's private key."`
	TLSCA         string `twin:"" name:"tls-ca" placeholder:"FILE" help:"Certificate authorities of the services' certificates."`
	TLSServerName string `twin:"" name:"tls-server-name" placeholder:"NAME" help:"Name that a service's certificate must have, such as account; by default the host in its address. For tunnels."`
	Plaintext     bool   `twin:"" help:"Allow connections to other machines without TLS."`
}

// services are the clients of the four services.
type services struct {
	send.Services
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
	for service, own := range map[string]string{
		"account": to.Account, "album": to.Album, "blog": to.Blog, "poi": to.Poi,
	} {
		address := cmp.Or(own, to.Address)
		if address == "" {
			return nil, usageError(fmt.Sprintf("%q is not an address; want HOST:PORT or unix:PATH", address))
		}
		connection, err := env.Dial(service, address, options...)
		if err != nil {
			return nil, usageError(twoDashes(err))
		}
		links[service] = &link{connection, service, address, to.Timeout}
	}
	return &services{send.Services{
		Account: accountv1.NewAccountServiceClient(links["account"]),
		Album:   albumv1.NewAlbumServiceClient(links["album"]),
		Blog:    blogv1.NewBlogServiceClient(links["blog"]),
		Poi:     poiv1.NewPoiServiceClient(links["poi"]),
	}, links}, nil
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

// Unwrap returns the status.
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
func (l *link) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
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
