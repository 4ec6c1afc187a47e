// Package attack sends bytes that no client sends to the ports of a running standalone, and watches what it does.
//
// A seed decides what one connection sends. A failure prints its seed, and WAYBOOK_FIRST_SEED begins with it.
// WAYBOOK_ATTACK is how long each port is attacked, such as 20m. The answers of the admin port are then measured, too.
package attack

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

var standalone string

func TestMain(m *testing.M) {
	os.Exit(launch.Main(m, func(directory string) error {
		standalone = filepath.Join(directory, "standalone")
		return launch.Build(directory, launch.AsShipped, "github.com/waybook/waybook/standalone")
	}))
}

// attackers is the number of connections at a time. It is below the limits of each port.
const attackers = 16

const durationVariable = "WAYBOOK_ATTACK"

// isAlone reports whether somebody runs these tests by themselves.
func isAlone() bool { return os.Getenv(durationVariable) != "" }

// duration is how long each port is attacked.
func duration(t *testing.T) time.Duration {
	t.Helper()
	if !isAlone() {
		return time.Duration(longform.Number(500, 30_000)) * time.Millisecond
	}
	given, err := time.ParseDuration(os.Getenv(durationVariable))
	if err != nil {
		t.Fatal(err)
	}
	return given
}

// firstSeed returns the seed of the first connection: 1 unless it is chosen, and a new one for each attack that
// somebody runs by itself.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	text, isSet := os.LookupEnv("WAYBOOK_FIRST_SEED")
	switch {
	case isSet:
	case isAlone():
		return uint64(time.Now().UnixNano())
	default:
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// attack runs connections, each with a seed of its own, until the time is over or one has failed. Then it checks that
// the program has given everything back.
func attack(t *testing.T, p *launch.Process, connect func(seed uint64) error) {
	t.Helper()
	run := func(first uint64, forTime time.Duration) uint64 {
		var group sync.WaitGroup
		var next atomic.Uint64
		end := time.Now().Add(forTime)
		for range attackers {
			group.Go(func() {
				for time.Now().Before(end) && !t.Failed() {
					seed := first + next.Add(1) - 1
					if err := connect(seed); err != nil {
						t.Errorf("WAYBOOK_FIRST_SEED=%d: %v", seed, err)
					}
				}
			})
		}
		group.Wait()
		return next.Load()
	}
	first, each := firstSeed(t), duration(t)
	const warm = 8
	idle := stateOf(t, p)
	run(first, each/warm) // what the program keeps for good, it has now
	watched := watch(t, p, idle)
	count := run(first, each)
	t.Logf("%d connections from seed %d", count, first)
	watched.end(t)
}
