// Package mongo is the docstore engine that keeps collections in MongoDB, 6 or
// newer, a replica set or sharded.
//
// A write is acknowledged by a majority before its call returns, and so survives
// the loss of a primary; the driver repeats one that a failover cut off, without
// doing it twice. Reads ask the primary for what it has now (read concern local):
// every primary has all acknowledged writes, so a client sees its own. A read may
// see another client's write a moment before that is acknowledged.
//
// The URI's own write concern, read concern and read preference do not count.
package mongo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/internal/drain"
)

// disconnectTimeout bounds how long Close tells the server goodbye.
const disconnectTimeout = 5 * time.Second

// selectionTimeout is how long a call waits for a server that can take it, unless the URI
// says serverSelectionTimeoutMS. A primary that steps down has a successor within it;
// where there is none for longer, as after a crash, callers get their answer long before
// the edge gives them up, and do not fill its places with waiting.
const selectionTimeout = 3 * time.Second

// DefaultDatabase is the database when nothing names another.
const DefaultDatabase = "waybook"

// Engine is a docstore.Engine in one database of a MongoDB server.
type Engine struct {
	client   *mongo.Client
	database *mongo.Database
	location string
	calls    drain.Gate
	close    func() error

	// opening is held, as its one element, by the call of Open that is under way.
	opening chan struct{}
	tables  map[string]*table
}

var _ docstore.Engine = (*Engine)(nil)

// Open connects to a server and waits until it answers, for serverSelectionTimeoutMS if
// the URI says that. An empty database is the one that the URI names, or DefaultDatabase.
func Open(ctx context.Context, uri, database string) (*Engine, error) {
	parsed, err := connstring.ParseAndValidate(uri)
	if err != nil {
		// The driver's text may hold the URI, which holds a password.
		return nil, errors.New("open MongoDB: the URI is malformed or its DNS records can't be read")
	}
	database = cmp.Or(database, parsed.Database, DefaultDatabase)
	settings := options.Client().SetServerSelectionTimeout(selectionTimeout).ApplyURI(uri).
		SetWriteConcern(writeconcern.Majority()).
		SetReadConcern(readconcern.Local()).
		SetReadPreference(readpref.Primary()).
		SetRetryWrites(true).
		SetRetryReads(true)
	client, err := mongo.Connect(settings)
	if err != nil {
		return nil, fmt.Errorf("open MongoDB: %w", err)
	}
	e := &Engine{
		client:   client,
		database: client.Database(database),
		location: location(parsed, database),
		opening:  make(chan struct{}, 1),
		tables:   make(map[string]*table),
	}
	e.close = sync.OnceValue(func() error {
		e.calls.Close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), disconnectTimeout)
		defer cancel()
		return client.Disconnect(ctx)
	})
	ping := e.awaitServer
	if parsed.ServerSelectionTimeoutSet {
		ping = e.Ping
	}
	if err := ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open MongoDB: %w", err), e.Close())
	}
	return e, nil
}

// awaitServer waits for a primary as long as ctx allows, which is longer than a call waits.
func (e *Engine) awaitServer(ctx context.Context) error {
	for {
		if err := e.Ping(ctx); !errors.Is(err, errNoServer) || ctx.Err() != nil {
			return err
		}
	}
}

// Location returns the hosts and the database, as in db1:27017,db2:27017/waybook. It holds
// no credentials.
func (e *Engine) Location() string { return e.location }

func location(uri *connstring.ConnString, database string) string {
	return strings.Join(uri.Hosts, ",") + "/" + database
}

// Ping asks the primary.
func (e *Engine) Ping(ctx context.Context) error {
	return e.call(ctx, func() error { return e.client.Ping(ctx, readpref.Primary()) })
}

// Close waits for calls under way and disconnects.
func (e *Engine) Close() error {
	return e.close()
}

// Open makes the collection's indexes exist and returns it.
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
			return nil, fmt.Errorf("collection %q is open with another declaration", spec.Name)
		}
		return open, e.call(ctx, func() error { return nil })
	}
	t := &table{engine: e, spec: spec, collection: e.database.Collection(spec.Name)}
	if err := e.call(ctx, func() error { return t.reconcile(ctx) }); err != nil {
		return nil, err
	}
	e.tables[spec.Name] = t
	return t, nil
}

// call runs one or more of the driver's calls as one of the port's and returns their
// error in the port's terms.
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
