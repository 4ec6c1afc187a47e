package contract

import (
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
)

// startOnMongoDB starts Waybook on a real server, in a database that is dropped at the end.
func startOnMongoDB(t *testing.T, _ string) *deployment {
	return startAssembly(t, "-mongodb-uri", mongotest.OnRealServer(t))
}
