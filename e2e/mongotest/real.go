package mongotest

import (
	"context"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// RealServer is the environment variable with the URI of a MongoDB server on which tests also
// run. They create and drop databases with the prefix test_.
const RealServer = "WAYBOOK_TEST_MONGODB_URI"

// dropTimeout bounds how long the drop of a database takes.
const dropTimeout = 20 * time.Second

// OnRealServer returns the URI of a new database on the real server. It drops the database at the
// end of the test. It skips the test if no server is given.
func OnRealServer(tb testing.TB) (uri string) {
	tb.Helper()
	server := os.Getenv(RealServer)
	if server == "" {
		tb.Skipf("%s names no server", RealServer)
	}
	return InDatabase(server, NewDatabase(tb, server))
}

// NewDatabase returns the name of a new database on a server, and drops it at the end of the test.
func NewDatabase(tb testing.TB, server string) (name string) {
	tb.Helper()
	name = Database()
	tb.Cleanup(func() { drop(tb, server, name) })
	return name
}

// drop drops a database, over a connection of its own.
func drop(tb testing.TB, server, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), dropTimeout)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(server))
	if err != nil {
		tb.Fatal(err)
	}
	if err := client.Database(name).Drop(ctx); err != nil {
		tb.Error(err)
	}
	if err := client.Disconnect(ctx); err != nil {
		tb.Error(err)
	}
}
