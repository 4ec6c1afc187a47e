// Package mongotest runs a server of MongoDB's wire protocol inside a test. It is
// FerretDB on SQLite, which proves functions and never speed.
package mongotest

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// Start runs a server until the test ends and returns the address of a database
// that nobody has used. One connection at a time is allowed: FerretDB's commands
// are not atomic towards each other, and one by one they are.
func Start(tb testing.TB) (uri string) {
	tb.Helper()
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Handler:   "sqlite",
		SQLiteURL: "file:" + tb.TempDir() + "/",
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatalf("start FerretDB: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			tb.Errorf("stop FerretDB: %v", err)
		}
	})
	return fmt.Sprintf("%s%s?maxPoolSize=1", server.MongoDBURI(), Database())
}

// Database returns a name that no other database has.
func Database() string {
	return "test_" + strings.ToLower(rand.Text())
}
