// Package edge speaks the legacy contract: form parameters and XML (or JSON) on
// one path, /API.php, in front of the gRPC services. It stores nothing.
//
// The data flows one way through its rooms: package form turns bytes into values,
// package operation holds the table that turns values into calls and responses into
// values, package reply turns those into XML or JSON. This package is HTTP around them:
// sessions, limits, origins, signatures, and how a reply is sent.
package edge

import (
	"log/slog"
	"net/http"
	"sync"
	"time"

	"buf.build/go/protovalidate"

	"github.com/waybook/waybook/edge/operation"
	accountv1 "github.com/waybook/waybook/proto/gen/waybook/account/v1"
	albumv1 "github.com/waybook/waybook/proto/gen/waybook/album/v1"
	blogv1 "github.com/waybook/waybook/proto/gen/waybook/blog/v1"
	poiv1 "github.com/waybook/waybook/proto/gen/waybook/poi/v1"
)

// Path is the only path of the interface (rule 1.1).
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
	// Sessions adds func=login and func=logout to the legacy contract's functions,
	// or does not.
	Sessions operation.Sessions
	// TrustedProxies are believed what they say about clients; there may be none.
	TrustedProxies TrustedProxies
	// Signatures says whether requests are to be signed by applications.
	Signatures Signatures
	// TrustedOrigins are other sites whose pages may write; there may be none.
	TrustedOrigins TrustedOrigins
	// Load bounds how much is done at a time and for whom; nothing by default.
	Load Load
	// Log gets what went wrong on this side, once each; slog's default when nil.
	Log *slog.Logger
	// Validator names every violation of a request that is wrong already.
	// Sharing the services' one saves memory; protovalidate's own when nil.
	Validator protovalidate.Validator
	// Observe is told of every request how it was answered. May be nil.
	Observe func(*http.Request, Answer)

	// CallTimeout bounds each call to a service and, in a stream, the wait for
	// each batch.
	CallTimeout time.Duration
	// WriteTimeout bounds each write to the client, not the whole reply, and
	// how long the client may take to send its body.
	WriteTimeout time.Duration
	// MaxFormBytes bounds the query and the body together.
	MaxFormBytes int64
}

// Answer is how a request was answered.
type Answer struct {
	// Function is the request's func, or "" for one that is not in the table, and
	// Reason the stable reason of its failure or "" for success. Both have few values.
	Function, Reason string
	// Status is the HTTP status and Bytes the length of the body, as sent; zero when
	// nothing was.
	Status  int
	Bytes   int64
	Elapsed time.Duration
	// Signature is the form of the request's signature, hmac or legacy, when it is
	// right, the reason why it would be refused or was, or "" when it was not looked at.
	Signature string
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
		c.Observe = func(*http.Request, Answer) {}
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
	table := operation.Table(&operation.Config{
		Account: c.Account, Album: c.Album, Blog: c.Blog, Poi: c.Poi,
		Sessions: c.Sessions, Validator: c.Validator, CallTimeout: c.CallTimeout,
	})
	h := &handler{config: c, functions: operation.NewFunctions(table), sites: c.TrustedOrigins.protection()}
	h.exchanges = sync.Pool{New: func() any { return newExchange(h) }}
	return h
}

// Operations describes the table: every operation, the additions among them, in the
// order in which the failure of an unknown func lists them.
func Operations() []operation.Description {
	table := operation.Table(&operation.Config{
		// Clients that are never called.
		Account: accountv1.NewAccountServiceClient(nil), Album: albumv1.NewAlbumServiceClient(nil),
		Blog: blogv1.NewBlogServiceClient(nil), Poi: poiv1.NewPoiServiceClient(nil),
	})
	described := make([]operation.Description, len(table))
	for i := range table {
		described[i] = table[i].Describe()
	}
	return described
}

// SharedParameters are those that every request may carry besides its operation's.
func SharedParameters() []operation.Parameter {
	return []operation.Parameter{
		{Name: "func", Hint: "the operation", IsRequired: true},
		{Name: paramResponseFormat.Name, Hint: paramResponseFormat.Hint},
		{Name: paramKey.Name, Hint: paramKey.Hint},
		{Name: paramTs.Name, Hint: paramTs.Hint},
		{Name: paramSig.Name, Hint: paramSig.Hint},
	}
}
