// Package edge serves the legacy contract in front of the gRPC services: form parameters in, XML
// or JSON out, on one path, /API.php, and the files of photos below /upload/. It stores nothing.
//
// Data flows one way through its packages. Package form turns bytes into values. Package
// operation holds the table: it turns values into calls, and responses into values. Package
// reply turns those values into XML or JSON. This package is the HTTP around them: sessions,
// limits, origins and the sending of replies.
package edge

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/waybook/waybook/edge/form"
	"github.com/waybook/waybook/edge/operation"
	"github.com/waybook/waybook/internal/clients"
)

// Path is the path of all operations (rule 1.1).
const Path = "/API.php"

// The defaults of a Config, for fields that are zero.
const (
	// DefaultCallTimeout is the time limit of a call to a service.
	DefaultCallTimeout = 10 * time.Second
	// DefaultWriteTimeout is the time limit of a client to read one piece of a reply.
	DefaultWriteTimeout = 30 * time.Second
	// DefaultMaxFormBytes has room for a blog text of 100,000 characters. At four bytes each,
	// percent-encoded, that is 1.2 MB.
	DefaultMaxFormBytes = 2 << 20
)

// Config has the dependencies and settings of the edge. The four services and Zone are required.
type Config struct {
	clients.Clients

	// Zone is the time zone of `time`, `updateDate` and the other times in replies.
	Zone *time.Location
	// Additions says whether the interface has more operations than the legacy contract.
	Additions operation.Additions
	// Sessions says whether the interface has func=login and func=logout, which the legacy
	// contract lacks.
	Sessions operation.Sessions
	// TrustedProxies are the proxies whose headers about clients count. It may be empty.
	TrustedProxies TrustedProxies
	// CookieSecure says when the cookie of a session is Secure.
	CookieSecure CookieSecure
	// LegacyCharset is the charset of queries, and of bodies that name none; UTF-8 unless set.
	LegacyCharset form.Charset
	// Identifiers says which identifiers replies show of what was moved in from an old service.
	Identifiers Identifiers
	// PathPrefix may stand before Path. It may be empty.
	PathPrefix PathPrefix
	// TrustedOrigins are other sites whose pages may write and read replies. It may be empty.
	TrustedOrigins TrustedOrigins
	// HasConsole makes the handler serve SessionPath for the console.
	HasConsole bool
	// Load holds the concurrency limits and the rate limits. The zero Load has none.
	Load Load
	// Log receives a line for each failure, within limits; slog.Default when nil.
	Log *slog.Logger
	// Observe is called once for every request, with its answer. May be nil.
	Observe func(*http.Request, Answer)

	// CallTimeout bounds each call to a service. A list takes a call for each page.
	CallTimeout time.Duration
	// WriteTimeout bounds each write to the client, but not the whole reply. It also bounds the
	// time that the client takes to send a form, or the next bytes of a file.
	WriteTimeout time.Duration
	// MaxFormBytes bounds the query and the body together, but for the file of a body.
	MaxFormBytes int64
	// MaxPhotoBytes bounds the file of a photo; 0 refuses all.
	MaxPhotoBytes int64
}

// Answer describes the answer to one request.
type Answer struct {
	// Function is the request's func, or "" if the table does not have it. For a request to
	// SessionPath it is that path, and FilesPath for a file. Reason is the stable reason of the
	// failure, or "" for success. Both have few values.
	Function, Reason string
	// IsLeftOut says that the request failed and the limits of the log left its line out.
	IsLeftOut bool
	// Status is the HTTP status, and Bytes the length of the body as sent. Both are zero when
	// nothing was sent.
	Status  int
	Bytes   int64
	Elapsed time.Duration
}
