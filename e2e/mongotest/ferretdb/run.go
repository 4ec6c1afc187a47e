package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"runtime/debug"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// gcPercent trades memory, of which tests need little, for the tenth of its time that FerretDB would
// spend on collecting garbage: it decodes every document of a collection for each query.
const gcPercent = 400

// lazyMemory is how many bytes a lazy FerretDB may use before it collects garbage.
const lazyMemory = 2 << 30

func run(address, directory, postgreSQL string, isLazy bool) (err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if directory == "" {
		if directory, err = os.MkdirTemp("", "waybook-ferretdb"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	debug.SetGCPercent(gcPercent)
	if isLazy {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(lazyMemory)
	}
	// A killed program loses nothing without syncs; only a machine that stops would.
	config := &ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: address},
		Handler:   "sqlite",
		SQLiteURL: "file:" + directory + "/?_pragma=synchronous(off)",
		Logger:    slog.New(slog.DiscardHandler),
	}
	if postgreSQL != "" {
		config.Handler, config.PostgreSQLURL = "postgresql", postgreSQL
	}
	server, err := ferretdb.New(config)
	if err != nil {
		return err
	}
	uri, err := url.Parse(server.MongoDBURI())
	if err != nil {
		return err
	}
	// The greeting of a service, so that what starts services starts this program too.
	fmt.Printf("waybook database\n  grpc   %s\n  admin  http://nowhere\n", uri.Host)
	return server.Run(ctx)
}
