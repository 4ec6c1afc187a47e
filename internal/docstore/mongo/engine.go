// Package mongo is the docstore engine that keeps collections in MongoDB, 6 or
// newer, a replica set or sharded.
//
// A majority acknowledges a write before its call returns, so the write survives the
// loss of a primary. If a failover interrupts a write of single documents, the driver
// retries it without applying it twice.
//
// Reads go to the primary with read concern local. There are two exceptions to what a
// client may expect of them:
//
//   - A read may see a write that no majority has acknowledged. If the primary is lost
//     then, that write is lost too. A call that reports an earlier write as done must
//     therefore not rely on such a read alone.
//   - A primary that is cut off from the majority serves reads until it notices, up to
//     electionTimeoutMillis of the replica set (10 seconds by default) later. A client that
//     still reaches it then misses writes that the new primary has acknowledged. Writes to
//     it are not acknowledged.
//
// Otherwise the primary has all acknowledged writes, so a client sees its own writes.
//
// The engine overrides the write concern, read concern and read preference of the URI.
package mongo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/auth"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/internal/drain"
	"github.com/waybook/waybook/internal/pause"
)

// disconnectTimeout bounds how long Close takes to disconnect from the server.
const disconnectTimeout = 5 * time.Second

// selectionTimeout is how long a call waits for an available server, unless the URI sets
// serverSelectionTimeoutMS. It is long enough for a new primary after a step-down. If there
// is no primary for longer, as after a crash, calls fail well before the edge's call
// timeout. So waiting requests do not use up the edge's concurrency limit.
const selectionTimeout = 3 * time.Second

// connectTimeout bounds the connection to a server with its handshakes, unless the URI sets
// connectTimeoutMS. The driver's own 30 seconds would hide a server that does not answer,
// for longer than a call waits for another one.
const connectTimeout = 3 * time.Second

// heartbeat is the longest time until the driver learns of a new primary, unless the URI
// sets heartbeatFrequencyMS. It is shorter than selectionTimeout, because the driver may miss
// a report of the server and then waits for the next heartbeat.
const heartbeat = time.Second

// userTimeout bounds how long a start waits for a server that refuses the user. A new replica set
// answers some time before anybody has created its users.
const userTimeout = time.Minute

// ErrUserRefused reports that the server refuses the user of the URI, or its password.
var ErrUserRefused = errors.New("MongoDB refuses the user of the URI")

// awaitPause is the pause between two attempts to reach a server at the start.
const awaitPause = 500 * time.Millisecond

// DefaultDatabase is the database if neither the caller nor the URI names one.
const DefaultDatabase = "waybook"

// Engine is a docstore.Engine in one database of a MongoDB server.
type Engine struct {
	client   *mongo.Client
	database *mongo.Database
	location string
	calls    drain.Gate
	close    func() error

	// isRouter reports whether the server is the router of a sharded cluster.
	isRouter bool
	version  version
	// start is the beginning of clock. confirmed is that of all collections, unless isRouter.
	start     time.Time
	confirmed confirmation
	// listed is the latest time of a snapshot of changes.
	listed latest
	// hasFormat says that the database was seen to have the format of this program.
	hasFormat atomic.Bool
	// opening is a semaphore of one, held by the call of Open in progress.
	opening chan struct{}
	tables  map[string]*table
}

var _ docstore.Engine = (*Engine)(nil)

// Open connects to a server and waits until it answers: for serverSelectionTimeoutMS if the URI
// sets it, otherwise until ctx ends. It waits for userTimeout while the server refuses the user.
// If database is empty, Open uses the database of the URI, or DefaultDatabase.
func Open(ctx context.Context, uri, database string) (*Engine, error) {
	return OpenAndReport(ctx, uri, database, func(string, error) {})
}

// OpenAndReport is like Open and reports that it waits for the server at a location: before
// the first attempt with a nil error, and after each failed one with its error.
func OpenAndReport(ctx context.Context, uri, database string,
	waits func(location string, err error)) (*Engine, error) {
	if err := CheckURI(uri); err != nil {
		return nil, fmt.Errorf("open MongoDB: %w", err)
	}
	parsed, err := connstring.ParseAndValidate(uri)
	if err != nil {
		// The driver's text may contain the URI, and the URI may contain a password.
		return nil, errors.New("open MongoDB: the DNS records of the URI's host cannot be read, or an option of the " +
			"URI is invalid")
	}
	database = cmp.Or(database, parsed.Database, DefaultDatabase)
	client, err := mongo.Connect(settings(uri))
	if err != nil {
		return nil, fmt.Errorf("open MongoDB: %w", err)
	}
	e := &Engine{
		client:   client,
		database: client.Database(database),
		location: location(parsed, database),
		start:    time.Now(),
		opening:  make(chan struct{}, 1),
		tables:   make(map[string]*table),
	}
	e.close = sync.OnceValue(func() error {
		e.calls.Close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), disconnectTimeout)
		defer cancel()
		return client.Disconnect(ctx)
	})
	waits(e.location, nil)
	forServer := time.Duration(math.MaxInt64)
	if parsed.ServerSelectionTimeoutSet {
		forServer = 0
	}
	err = e.awaitServer(ctx, forServer, userTimeout, waits)
	if err == nil {
		err = e.call(ctx, func() (err error) {
			if e.isRouter, err = e.asksRouter(ctx); err != nil {
				return err
			}
			return e.client.Database("admin").RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Decode(&e.version)
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open MongoDB: %w", err), e.Close())
	}
	return e, nil
}

// settings returns the settings of the client. Those that the engine's promises depend on override
// the URI. Its timeoutMS would bound each call without a deadline, and so the build of an index.
func settings(uri string) *options.ClientOptions {
	settings := options.Client().SetServerSelectionTimeout(selectionTimeout).SetConnectTimeout(connectTimeout).
		SetHeartbeatInterval(heartbeat).ApplyURI(uri).
		SetWriteConcern(writeconcern.Majority()).
		SetReadConcern(readconcern.Local()).
		SetReadPreference(readpref.Primary()).
		SetRetryWrites(true).
		SetRetryReads(true)
	settings.Timeout = nil
	return settings
}

// awaitServer waits for a primary that takes the user, until ctx ends. It gives up when no server
// could take a call for forServer, or when one refused the user for forUser.
func (e *Engine) awaitServer(ctx context.Context, forServer, forUser time.Duration,
	waits func(location string, err error)) error {
	var failing error // the failure that is waited for, or nil
	var since time.Duration
	for {
		var cause error
		err := e.call(ctx, func() error {
			cause = e.client.Ping(ctx, readpref.Primary())
			return cause
		})
		limit := forServer
		var refused *auth.Error
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && failing != nil:
			return fmt.Errorf("%w: %v", ctx.Err(), failing)
		case errors.As(cause, &refused) && !mongo.IsNetworkError(cause):
			limit, err = forUser, fmt.Errorf("%w: %w", ErrUserRefused, err)
		case !errors.Is(err, docstore.ErrUnavailable):
			return err
		}
		if failing == nil || errors.Is(failing, ErrUserRefused) != errors.Is(err, ErrUserRefused) {
			since = e.clock()
		}
		if failing = err; e.clock()-since >= limit {
			return err
		}
		waits(e.location, err)
		_ = pause.For(ctx, awaitPause) // the next attempt fails if ctx has ended
	}
}

// Location returns the hosts and the database, as in db1:27017,db2:27017/waybook. It holds
// no credentials.
func (e *Engine) Location() string { return e.location }

// OldestVersion is the oldest version of MongoDB that the engine supports, and oldestMajor its
// major version.
const (
	OldestVersion = "6.0"
	oldestMajor   = 6
)

// version is the part of a reply to buildInfo that names the version.
type version struct {
	Text  string  `bson:"version"`
	Parts []int32 `bson:"versionArray"`
}

// Version returns the version of the server, or of the router, at the opening, and whether the
// engine supports it.
func (e *Engine) Version() (version string, isSupported bool) {
	return e.version.Text, len(e.version.Parts) > 0 && e.version.Parts[0] >= oldestMajor
}

func location(uri *connstring.ConnString, database string) string {
	return strings.Join(uri.Hosts, ",") + "/" + database
}

// IsLocal returns false.
func (e *Engine) IsLocal() bool { return false }

// Ping checks that the primary answers.
func (e *Engine) Ping(ctx context.Context) error {
	return e.call(ctx, func() error { return e.client.Ping(ctx, readpref.Primary()) })
}

// Close waits for the calls in flight and disconnects.
func (e *Engine) Close() error {
	return e.close()
}

// Open creates the collection's indexes where they are missing, and returns the
// collection. It drops no index. Open fails if there is one of the declared name with
// another declaration.
func (e *Engine) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	select {
	case e.opening <- struct{}{}:
		defer func() { <-e.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if open := e.tables[spec.Name]; open != nil {
		if !reflect.DeepEqual(open.spec, spec) {
			return nil, fmt.Errorf("collection %q is already open with another declaration", spec.Name)
		}
		return open, e.call(ctx, func() error { return nil })
	}
	t := newTable(e, spec)
	t.confirmed = e.confirmationOf(spec)
	err := e.call(ctx, func() error {
		if err := e.claim(ctx); err != nil {
			return err
		}
		if err := t.reconcile(ctx); err != nil {
			return err
		}
		return t.checkStamping(ctx)
	})
	if err != nil {
		return nil, err
	}
	e.tables[spec.Name] = t
	return t, nil
}

// clock returns the time since the engine was opened.
func (e *Engine) clock() time.Duration { return time.Since(e.start) }

// Do runs calls of the driver on the database, for data that are no documents of the port. Its
// errors are those of the port.
func (e *Engine) Do(ctx context.Context, do func(*mongo.Database) error) error {
	return e.call(ctx, func() error { return do(e.database) })
}

// call runs one method of the port, which may make several calls of the driver. It
// converts the driver's error to one of the port.
func (e *Engine) call(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.calls.Enter() {
		return fmt.Errorf("%w: the store is closed", docstore.ErrUnavailable)
	}
	defer e.calls.Leave()
	return portError(ctx, do())
}

// errMalformed is the error of a URI that its grammar or the driver refuses. It has no part of the
// URI: where the grammar is broken, any text of it may be a password.
var errMalformed = errors.New(
	"the URI is malformed: check the hosts, the database and the options; percent-encode the user name and " +
		"the password")

// CheckURI reports why a URI is malformed. It connects to nothing and reads no DNS record, so it
// leaves the options of a mongodb+srv URI to Open. Its errors hold no part of a malformed URI, and
// no credentials.
func CheckURI(uri string) error {
	kind, rest, hasScheme := strings.Cut(uri, "://")
	switch {
	case strings.ContainsFunc(uri, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("the URI is malformed: it contains white space or a control character")
	case !hasScheme || kind != connstring.SchemeMongoDB && kind != connstring.SchemeMongoDBSRV:
		return errors.New("the URI is malformed: want mongodb://HOST/DATABASE or mongodb+srv://HOST/DATABASE")
	case isAmbiguous(rest):
		return errors.New("the URI is malformed: percent-encode the user name and the password (@ as %40, / as %2F, " +
			": as %3A), and every @ and / " +
			"behind the hosts")
	case kind == connstring.SchemeMongoDBSRV:
		return checkSRV(uri)
	}
	if _, err := connstring.ParseAndValidate(uri); err != nil {
		return errMalformed
	}
	err := settings(uri).Validate() // reads the files of certificates that the URI names
	if err != nil && MayHavePassword(uri) {
		return errMalformed
	}
	if err != nil {
		return fmt.Errorf("the URI is invalid: %w", err)
	}
	return nil
}

// isAmbiguous reports whether what follows the scheme has an @ besides the one before the hosts,
// or a slash in the database. The driver takes the rest of a password for the hosts and the
// database then.
func isAmbiguous(rest string) bool {
	_, behind, _ := strings.Cut(rest, "/")
	database, _, _ := strings.Cut(behind, "?")
	return strings.Count(rest, "@") > 1 || strings.Contains(behind, "@") || strings.Contains(database, "/")
}

// checkSRV checks the host of a mongodb+srv URI, whose DNS records name the servers.
func checkSRV(uri string) error {
	parsed, err := url.Parse(uri)
	switch {
	case err != nil:
		return errMalformed
	case parsed.Hostname() == "" || parsed.Port() != "" || strings.Contains(parsed.Host, ","):
		return errors.New("the URI is malformed: mongodb+srv:// takes one host name without a port")
	}
	return nil
}

// MayHavePassword reports whether a URI may hold a password or another secret. It rather says yes.
func MayHavePassword(uri string) bool {
	_, rest, _ := strings.Cut(uri, "://")
	at := strings.LastIndexByte(rest, '@')
	options := strings.ToLower(rest)
	return at >= 0 && strings.Contains(rest[:at], ":") ||
		strings.Contains(options, "password=") || strings.Contains(options, "token:")
}
