package storekeeping

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/mongo"
)

// Prepared is what Prepare did.
type Prepared struct {
	Collections []PreparedCollection `json:"collections"`
}

// Preparation says what Prepare does besides. Both make sense on MongoDB only; the embedded
// store always does as if both were set.
type Preparation struct {
	// DropReplaced drops the indexes that declarations of other versions have left.
	DropReplaced bool
	// Validators makes the server refuse documents without the declared indexed fields.
	Validators bool
}

// PreparedCollection is a collection that exists as its service declares it.
type PreparedCollection struct {
	Service string `json:"service"`
	Name    string `json:"name"`
	// Made reports whether the collection is new.
	Made bool `json:"made"`
	// IndexesFound existed. IndexesMade are new, or replace one with another declaration.
	IndexesFound []string `json:"indexes_found"`
	IndexesMade  []string `json:"indexes_made"`
	// IndexesDropped are those that declarations of other versions had left, by their names on
	// the server.
	IndexesDropped []string `json:"indexes_dropped,omitempty"`
	// Placement is "one shard", "by _id" or "by place" on a sharded cluster, and empty elsewhere. Sharded
	// reports whether this call sharded the collection.
	Placement string `json:"placement,omitempty"`
	Sharded   bool   `json:"sharded,omitempty"`
}

// Prepare creates all missing collections and indexes that the services declare, and on a sharded
// cluster shards the collections declared so. It keeps existing data, so it may be repeated, on
// MongoDB even while services run.
func Prepare(ctx context.Context, options Options, preparation Preparation) (prepared Prepared, err error) {
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
			made, err := prepare(ctx, store, p.name, c, preparation)
			if err != nil {
				return prepared, err
			}
			prepared.Collections = append(prepared.Collections, made)
		}
	}
	return prepared, nil
}

// RenewFeeds makes the feeds of a MongoDB refuse the tokens that followers have, and returns how many feeds there
// are. Services may run.
func RenewFeeds(ctx context.Context, options Options) (renewed int64, err error) {
	store, err := options.openStore(ctx, options.Store.Open)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	server, isMongoDB := store.(*mongo.Engine)
	if !isMongoDB {
		return 0, errors.New("an embedded store renews its feeds itself when its file comes back")
	}
	return server.RenewFeeds(ctx)
}

func prepare(ctx context.Context, store docstore.Engine, service string, c collection, preparation Preparation) (PreparedCollection, error) {
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
	server, isMongoDB := store.(*mongo.Engine)
	if !isMongoDB {
		if _, err := store.Open(ctx, c.spec); err != nil {
			return made, fmt.Errorf("open collection %s: %w", c.spec.Name, err)
		}
		return made, nil
	}
	changes, err := server.Prepare(ctx, c.spec, mongo.Preparation{DropReplaced: preparation.DropReplaced, Validate: preparation.Validators})
	if err != nil {
		return made, fmt.Errorf("prepare collection %s: %w", c.spec.Name, err)
	}
	made.IndexesDropped = changes.Dropped
	before, err := server.Placement(ctx, c.spec)
	if err != nil {
		return made, err
	}
	after, err := server.Shard(ctx, c.spec)
	made.Placement, made.Sharded = string(after), after != before
	return made, err
}
