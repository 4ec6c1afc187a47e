package service

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/mongo"
	"github.com/waybook/waybook/internal/platform/settings"
)

// openTimeout bounds how long Open waits for MongoDB.
const openTimeout = 30 * time.Second

// StoreFlags select a program's store.
type StoreFlags struct {
	// Data is the directory of the embedded store.
	Data string
	// MongoDBURI, unless empty, is the URI of a MongoDB to use instead.
	MongoDBURI string
}

// Register declares the flags. data is the default directory.
func (f *StoreFlags) Register(flags *flag.FlagSet, data string) {
	flags.StringVar(&f.Data, "data", data, "`directory` of the embedded store, created if missing")
	flags.Var((*mongoDBURI)(&f.MongoDBURI), mongoDBFlag,
		"`URI` of the MongoDB (6 or newer) to use instead of the embedded store, such as mongodb://host/waybook?replicaSet=rs0")
	settings.FromFile(flags, mongoDBFlag, "the URI of the MongoDB, for a URI with a password")
}

const mongoDBFlag = "mongodb-uri"

// mongoDBURI is the value of -mongodb-uri.
type mongoDBURI string

// String returns the URI.
func (u *mongoDBURI) String() string { return string(*u) }

// Set sets the URI. Check and Open report a malformed one, without its password.
func (u *mongoDBURI) Set(value string) error {
	*u = mongoDBURI(value)
	return nil
}

// HasSecret reports whether the URI may hold a password.
func (u *mongoDBURI) HasSecret() bool { return mongo.MayHavePassword(string(*u)) }

// Check reports why the store cannot be opened, without opening it: a malformed URI, or a directory
// or a file that this user cannot write.
func (f *StoreFlags) Check() error {
	if f.MongoDBURI == "" {
		if err := checkWritable(f.File()); err != nil {
			return fmt.Errorf("-data: %w", err)
		}
		return nil
	}
	if err := mongo.CheckURI(f.MongoDBURI); err != nil {
		return fmt.Errorf("-%s: %w", mongoDBFlag, err)
	}
	return nil
}

// Open opens the store. It waits for MongoDB for up to openTimeout.
func (f *StoreFlags) Open(ctx context.Context) (docstore.Engine, error) {
	if f.MongoDBURI == "" {
		return embedded.Open(f.File())
	}
	return f.connect(ctx)
}

// OpenReadOnly opens an existing store to inspect it. The embedded store rejects writes;
// several processes may open it this way while no service has it open.
func (f *StoreFlags) OpenReadOnly(ctx context.Context) (docstore.Engine, error) {
	if f.MongoDBURI == "" {
		return embedded.OpenReadOnly(f.File())
	}
	return f.connect(ctx)
}

// File is the file of the embedded store.
func (f *StoreFlags) File() string { return filepath.Join(f.Data, "waybook.db") }

func (f *StoreFlags) connect(ctx context.Context) (docstore.Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return f.await(ctx, func(string, error) {})
}

// await waits for MongoDB until ctx ends and reports that to waits.
func (f *StoreFlags) await(ctx context.Context, waits func(location string, err error)) (docstore.Engine, error) {
	engine, err := mongo.OpenAndReport(ctx, f.MongoDBURI, "", waits)
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", mongoDBFlag, err)
	}
	return engine, nil
}
