package mongotest

import (
	"testing"

	"github.com/waybook/waybook/e2e/mongowire"
)

// StartServer runs FerretDB behind the face of a MongoDB server until the test ends. Use it with
// as many connections as the program has. The backend of the config is set. The test fails if a
// command on a sharded collection asks all shards and does not say so.
func StartServer(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	server := StartUnmonitored(tb, config)
	tb.Cleanup(func() {
		for _, stray := range server.Strays() {
			tb.Error(stray)
		}
	})
	return server
}

// StartUnmonitored is StartServer for commands that may ask all shards.
func StartUnmonitored(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	running, err := theFerret()
	if err != nil {
		tb.Fatal(err)
	}
	config.Backend = running.address
	return listen(tb, config)
}

// listen runs the face until the test ends.
func listen(tb testing.TB, config mongowire.Config) *mongowire.Server {
	tb.Helper()
	server, err := mongowire.Listen(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(err)
		}
	})
	return server
}

// StartReplicaSet runs StartServer as a replica set and returns the URI of a new database.
func StartReplicaSet(tb testing.TB) (uri string) {
	tb.Helper()
	return StartServer(tb, mongowire.Config{}).URI(Database())
}
