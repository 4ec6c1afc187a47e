// Package storekeeping implements maintenance of a store: prepare it for the services, check it,
// compact it, dump it to a file and load it from one. It opens the store as the services do. It
// learns their collections by letting each service open them, so it needs no list of its own. Only
// a backup comes from a running program.
package storekeeping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/waybook/waybook/internal/content"
	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/internal/platform/smallids"
	"github.com/waybook/waybook/services/account"
	"github.com/waybook/waybook/services/album"
	"github.com/waybook/waybook/services/blog"
	"github.com/waybook/waybook/services/poi"
)

// Options select a store and a part of it.
type Options struct {
	// Store locates the store with the flags of the services.
	Store service.StoreFlags
	// Services select the services whose collections are used; none means all. A service that runs
	// alone has its own embedded store.
	Services []string
	// Progress, if not nil, receives how many documents were read or written since it was called
	// last. A check reads a collection once for each constraint it is in.
	Progress func(documents int)
	// Photos, unless empty, is a directory to which a dump writes the files of photos, and from
	// which a load reads them.
	Photos string
	// LeftOut, unless nil, is called if a dump without Photos leaves files out, with their number.
	LeftOut func(files int64)
	// Stdout gets the dump whose path is "-".
	Stdout io.Writer
}

// part is a service from the point of view of storekeeping.
type part struct {
	name string
	// open opens the service's collections and returns the constraints between them.
	open func(context.Context, content.Deps) ([]integrity.Constraint, error)
}

func allParts() []part {
	return []part{
		{"account", func(ctx context.Context, deps content.Deps) ([]integrity.Constraint, error) {
			_, err := account.New(ctx, deps.Deps, account.Config{})
			return nil, err
		}},
		{"album", func(ctx context.Context, deps content.Deps) ([]integrity.Constraint, error) {
			server, err := album.New(ctx, deps)
			return constraintsOf(server, err)
		}},
		{"blog", func(ctx context.Context, deps content.Deps) ([]integrity.Constraint, error) {
			server, err := blog.New(ctx, deps, blog.Config{Zone: time.UTC})
			return constraintsOf(server, err)
		}},
		{"poi", func(ctx context.Context, deps content.Deps) ([]integrity.Constraint, error) {
			server, err := poi.New(ctx, deps)
			return constraintsOf(server, err)
		}},
	}
}

func constraintsOf(server content.Service, err error) ([]integrity.Constraint, error) {
	if err != nil {
		return nil, err
	}
	return server.Constraints(), nil
}

// parts returns the services that the options name.
func (o Options) parts() ([]part, error) {
	all := allParts()
	if len(o.Services) == 0 {
		return all, nil
	}
	for _, name := range o.Services {
		if !slices.ContainsFunc(all, func(p part) bool { return p.name == name }) {
			return nil, fmt.Errorf("there is no service %q", name)
		}
	}
	return slices.DeleteFunc(all, func(p part) bool { return !slices.Contains(o.Services, p.name) }), nil
}

func (o Options) progress(documents int) {
	if o.Progress != nil {
		o.Progress(documents)
	}
}

// openStore opens a store with one of the methods of the flags. Its errors say what to do.
func (o Options) openStore(ctx context.Context,
	open func(context.Context) (docstore.Engine, error)) (docstore.Engine, error) {
	engine, err := open(ctx)
	if err != nil {
		return nil, o.explained(err)
	}
	return engine, nil
}

// explained adds to an error of an opening what to do.
func (o Options) explained(err error) error {
	switch {
	case errors.Is(err, embedded.ErrLocked):
		return fmt.Errorf("%w; stop it first", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no embedded store in %s: %w", o.Store.Data, fs.ErrNotExist)
	}
	return err
}

// openExisting opens an existing store, and never creates one.
func (o Options) openExisting(ctx context.Context, mode integrity.Mode) (docstore.Engine, error) {
	store, err := o.openStore(ctx, o.Store.OpenReadOnly)
	if err != nil || mode == integrity.Look || o.Store.MongoDBURI != "" {
		return store, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return o.openStore(ctx, o.Store.Open)
}

// deps are the dependencies of a service that opens its collections and serves no calls.
func deps(store docstore.Engine) content.Deps {
	return content.Deps{Deps: service.NewDeps(store, slog.New(slog.DiscardHandler))}
}

// survey is a store that a service opens. It records the service's collections and their state,
// and changes nothing. Without an engine it records what the service declares; since a service
// that opens its collections calls nothing else, it needs no tables.
type survey struct {
	docstore.Engine
	collections []collection
}

type collection struct {
	spec  docstore.Spec
	found docstore.Inspection
}

func (c collection) exists() bool { return c.found.Exists }

// IsLocal is for services that make a source of identifiers. They draw none.
func (s *survey) IsLocal() bool { return false }

// Open inspects the collection and records it.
func (s *survey) Open(ctx context.Context, spec docstore.Spec) (docstore.Table, error) {
	var found docstore.Inspection
	if s.Engine != nil {
		var err error
		if found, err = s.Inspect(ctx, spec); err != nil {
			return nil, err
		}
	}
	s.collections = append(s.collections, collection{spec, found})
	return found.Table, nil
}

// inspect returns the state of a service's collections and the constraints that can be
// checked.
func (p part) inspect(ctx context.Context, store docstore.Engine) ([]collection, []integrity.Constraint, error) {
	s := &survey{Engine: store}
	constraints, err := p.open(ctx, deps(s))
	if err != nil || store == nil {
		return s.collections, constraints, err
	}
	counters := smallids.Spec(p.name)
	found, err := store.Inspect(ctx, counters)
	if found.Exists {
		s.collections = append(s.collections, collection{counters, found})
	}
	return s.collections, constraints, err
}

// declaredSpecs returns the collections that some services declare, by name.
func declaredSpecs(ctx context.Context, parts []part) (map[string]docstore.Spec, error) {
	named := map[string]docstore.Spec{}
	for _, p := range parts {
		declared, _, err := p.inspect(ctx, nil)
		if err != nil {
			return nil, err
		}
		for _, each := range declared {
			named[each.spec.Name] = each.spec
		}
	}
	return named, nil
}

// Prepared is what Prepare did.
type Prepared struct {
	Collections []PreparedCollection `json:"collections"`
}

// PreparedCollection is a collection that exists as its service declares it.
type PreparedCollection struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	// Made reports whether the collection is new.
	Made bool `json:"made"`
	// IndexesFound existed. IndexesMade are new.
	IndexesFound []string `json:"indexes_found"`
	IndexesMade  []string `json:"indexes_made"`
	// Placement is "one shard", "by _id" or "by place" on a sharded cluster, and empty elsewhere.
	// Sharded reports whether this call sharded the collection.
	Placement string `json:"placement,omitempty"`
	Sharded   bool   `json:"sharded,omitempty"`
}

// Prepare creates all missing collections and indexes that the services declare, and on a sharded
// cluster shards the collections declared so. It keeps existing data, so it may be repeated, on
// MongoDB even while services run.
func Prepare(ctx context.Context, options Options) (prepared Prepared, err error) {
	parts, err := options.parts()
	if err != nil {
		return prepared, err
	}
	store, err := options.openStore(ctx, options.Store.Open)
	if err != nil {
		return prepared, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for _, p := range parts {
		collections, _, err := p.inspect(ctx, store)
		if err != nil {
			return prepared, err
		}
		for _, c := range collections {
			made, err := prepare(ctx, store, p.name, c)
			if err != nil {
				return prepared, err
			}
			prepared.Collections = append(prepared.Collections, made)
		}
		names, err := p.fileStores(ctx)
		if err != nil {
			return prepared, err
		}
		for _, name := range names {
			made, err := prepareFiles(ctx, store, p.name, name)
			if err != nil {
				return prepared, err
			}
			prepared.Collections = append(prepared.Collections, made...)
		}
	}
	return prepared, nil
}

// Renew gives an existing store another identifier, so that followers of changes start anew. On
// MongoDB, services may run.
func Renew(ctx context.Context, options Options) (err error) {
	store, err := options.openExisting(ctx, integrity.Repair)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return store.Renew(ctx)
}

func prepare(ctx context.Context, store docstore.Engine, service string, c collection) (PreparedCollection, error) {
	made := PreparedCollection{
		Service: service, Name: c.spec.Name, Made: !c.found.Exists,
		IndexesFound: []string{}, IndexesMade: []string{},
	}
	for _, index := range c.spec.Indexes {
		if slices.Contains(c.found.Missing, index.Name) {
			made.IndexesMade = append(made.IndexesMade, index.Name)
		} else {
			made.IndexesFound = append(made.IndexesFound, index.Name)
		}
	}
	if _, err := store.Open(ctx, c.spec); err != nil {
		return made, fmt.Errorf("open collection %s: %w", c.spec.Name, err)
	}
	server, isMongoDB := store.(*mongo.Engine)
	if !isMongoDB {
		return made, nil
	}
	before, err := server.Placement(ctx, c.spec)
	if err != nil {
		return made, err
	}
	after, err := server.Shard(ctx, c.spec)
	made.Placement, made.Sharded = string(after), after != before
	return made, err
}

// Compacted is what Compact did.
type Compacted struct {
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
}

// Compact returns the free space of an embedded store's file to the file system. No service may
// have the store open.
func Compact(ctx context.Context, options Options) (Compacted, error) {
	if options.Store.MongoDBURI != "" {
		return Compacted{}, errors.New("only an embedded store can be compacted; MongoDB has the command compact")
	}
	done, err := embedded.Compact(ctx, options.Store.File())
	return Compacted{BytesBefore: done.Before, BytesAfter: done.After}, options.explained(err)
}
