package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func run(address, directory string) (err error) {
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
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: address},
		Handler:   "sqlite",
		SQLiteURL: "file:" + directory + "/",
		Logger:    slog.New(slog.DiscardHandler),
	})
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
