// Package edge speaks the legacy contract: form parameters and XML (or JSON) on
// one path, /API.php, in front of the gRPC services. It stores nothing.
//
// operations.go holds the table of the operations; everything else here serves
// one of its columns. "Contract 4.3" in a comment names a section of the legacy
// contract.
package edge

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"buf.build/go/protovalidate"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Path is the only path of the interface (contract 4.1).
const Path = "/API.php"

// What a Config that leaves a field zero gets.
const (
	// DefaultCallTimeout is how long the edge waits for a service.
	DefaultCallTimeout = 10 * time.Second
	// DefaultWriteTimeout is how long a client may take to read what was sent at once.
	DefaultWriteTimeout = 30 * time.Second
	// DefaultMaxFormBytes holds a blog text of 100,000 characters of four bytes
	// each, percent-encoded (1.2 MB), with room to spare.
	DefaultMaxFormBytes = 2 << 20
)

// Config is what the edge depends on. The four services and Zone are required.
type Config struct {
	Account accountv1.AccountServiceClient
	Album   albumv1.AlbumServiceClient
	Blog    blogv1.BlogServiceClient
	Poi     poiv1.PoiServiceClient

	// Zone is where `time`, `updateDate` and such are told.
	Zone *time.Location
	// Log gets what went wrong on this side, once each; slog's default when nil.
	Log *slog.Logger
	// Validator names every violation of a request that is wrong already.
	// Sharing the services' one saves memory; protovalidate's own when nil.
	Validator protovalidate.Validator
	// Observe is told of every request: its func, or "" for one that is not in
	// the table, and the stable reason of its failure or "" for success. Both
	// have few values. May be nil.
	Observe func(function, reason string, elapsed time.Duration)

	// CallTimeout bounds each call to a service and, in a stream, the wait for
	// each batch.
	CallTimeout time.Duration
	// WriteTimeout bounds each write to the client, not the whole reply, and
	// how long the client may take to send its body.
	WriteTimeout time.Duration
	// MaxFormBytes bounds the query and the body together.
	MaxFormBytes int64
}

// New returns the handler of the whole interface. It answers other paths than
// Path with a failure too, so that it can be a server's only handler.
func New(c Config) http.Handler {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Validator == nil {
		c.Validator = protovalidate.GlobalValidator
	}
	if c.Observe == nil {
		c.Observe = func(string, string, time.Duration) {}
	}
	if c.CallTimeout <= 0 {
		c.CallTimeout = DefaultCallTimeout
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = DefaultWriteTimeout
	}
	if c.MaxFormBytes <= 0 {
		c.MaxFormBytes = DefaultMaxFormBytes
	}
	h := &handler{config: c, functions: functions(operations(c))}
	h.exchanges = sync.Pool{New: func() any { return newExchange(h) }}
	return h
}
