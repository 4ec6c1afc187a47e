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

// memory is how many bytes FerretDB may use before it collects garbage. It decodes every document of a collection for
// each query, and would spend a tenth of its time on collecting. And the process ends at the first collection after
// it has refused some commands, because it forgets to close what the finalizers look for.
const memory = 1 << 30

func run(address, directory, postgreSQL string) (err error) {
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
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memory)
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
