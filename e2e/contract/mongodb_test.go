package contract

import (
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
	"github.com/waybook/waybook/e2e/mongowire"
)

// startOnMongoDB starts Waybook on a real server, in a database that is dropped at the end.
func startOnMongoDB(t *testing.T, _ string) *deployment {
	return startAssembly(t, "-mongodb-uri", mongotest.OnRealServer(t))
}

// on returns a function that starts Waybook on a stand-in of a MongoDB server.
func on(config mongowire.Config) func(*testing.T, string) *deployment {
	return func(t *testing.T, _ string) *deployment {
		d := startAssembly(t, "-mongodb-uri", mongotest.StartServer(t, config).URI(mongotest.Database()))
		d.isSlow = true
		return d
	}
}
