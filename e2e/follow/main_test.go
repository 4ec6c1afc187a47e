// Package follow checks that the copy of a follower in a process of its own equals the store, whatever happens to it,
// to the clocks, the writers and the primary. What needs no real process or MongoDB is in e2e/world.
package follow

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if addresses := os.Getenv(followVariable); addresses != "" {
		follow(addresses, os.Getenv(journalVariable))
		return
	}
	os.Exit(m.Run())
}
