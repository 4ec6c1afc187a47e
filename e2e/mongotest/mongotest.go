// Package mongotest runs a server of MongoDB's wire protocol inside a test: FerretDB on SQLite,
// behind the face of package mongowire. Use it to test functions, never speed.
package mongotest

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// startFerret runs FerretDB until the test ends and returns its address.
func startFerret(tb testing.TB) (address string) {
	tb.Helper()
	ctx, stop := context.WithCancel(context.Background())
	directory, listens, stopped := tb.TempDir(), make(chan string, 1), make(chan error, 1)
	go func() { stopped <- Serve(ctx, "127.0.0.1:0", directory, func(bound string) { listens <- bound }) }()
	select {
	case address = <-listens:
	case err := <-stopped:
		stop()
		tb.Fatalf("start FerretDB: %v", err)
	}
	tb.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			tb.Errorf("stop FerretDB: %v", err)
		}
	})
	return address
}

// Serve runs FerretDB alone, with its data in a directory, until ctx ends. It passes the address
// to listens. A face must stand in front of it.
func Serve(ctx context.Context, address, directory string, listens func(address string)) error {
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
	listens(uri.Host)
	return server.Run(ctx)
}

// Database returns an unused database name.
func Database() string {
	return "test_" + strings.ToLower(rand.Text())
}

// InDatabase replaces the database in a URI and keeps the authentication database.
func InDatabase(uri, name string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	rest, options, _ := strings.Cut(rest, "?")
	hosts, database, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts, "@") && !strings.Contains(strings.ToLower(options), "authsource=") {
		if database == "" {
			database = "admin"
		}
		options = strings.TrimPrefix(options+"&authSource="+database, "&")
	}
	if options != "" {
		options = "?" + options
	}
	return scheme + "://" + hosts + "/" + name + options
}
