// Package follow checks that the copy of a follower equals the store, whatever happens to the follower,
// to the clocks and to the writers.
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
