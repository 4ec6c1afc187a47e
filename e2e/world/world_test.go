// Package world runs all of Waybook in one process on fake time, without sockets: clients, the edge and the
// services on a store whose disk forgets what was not synced, followers, and an operator who stops, kills,
// cuts the power, sets clocks, backs up, restores and moves. A model that knows docs/contract.md checks
// every reply.
//
// A seed decides the history. WAYBOOK_SEEDS and WAYBOOK_FIRST_SEED choose seeds.
package world

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore/docstoretest"
	"github.com/waybook/waybook/internal/docstore/embedded/forgetful"
	"github.com/waybook/waybook/internal/longform"
)

// steps is the length of a history, and reward what a blog earns.
const steps, reward = 80, 10

func TestWhatWasPromisedHoldsThroughEverything(t *testing.T) {
	empty := emptyStore(t)
	docstoretest.SomeSeeds(t, longform.Number(20, 150), func(t *testing.T, seed uint64) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed, empty)
			for range steps {
				if w.step(); t.Failed() {
					break
				}
			}
			if !t.Failed() {
				w.settle()
				w.check()
			}
			w.stop()
			if t.Failed() {
				t.Logf("history of seed %d:\n%s", seed, strings.Join(w.history, "\n"))
			}
		})
	})
}

// emptyStore returns the file of a store with all collections and no documents. Making them takes longer
// than a history.
func emptyStore(t *testing.T) (contents []byte) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, random: rand.New(rand.NewPCG(0, 0)), directory: t.TempDir()}
		w.path = fileIn(w.directory)
		w.disk = forgetful.New(w.path, w.random)
		w.start()
		w.end()
		var err error
		contents, err = os.ReadFile(w.path)
		w.must(err)
	})
	return contents
}

// world is a store with the processes that serve it one after the other, and those who use it.
type world struct {
	t               *testing.T
	random          *rand.Rand
	disk            *forgetful.Disk
	directory, path string
	// skew is how far the clock of the machine is ahead of the time in the bubble.
	skew time.Duration
	// running is the present program; nil between two.
	running   *program
	model     model
	followers map[*kind]*follower
	users     []*user
	// kept is the last backup; nil if there is none.
	kept *backup
	// isDying: the process may be killed, or its disk may fail, at any write from now on.
	isDying bool
	// isFailing: the sync of a commit may fail. Then reads may show it, and a restart may undo it.
	isFailing bool
	history   []string
}

// newWorld starts a process on an empty store.
func newWorld(t *testing.T, seed uint64, empty []byte) *world {
	time.Sleep(time.Until(time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)))
	w := &world{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), model: newModel(), directory: t.TempDir(),
		followers: map[*kind]*follower{kinds[0]: {}, kinds[1]: {}},
	}
	w.path = fileIn(w.directory)
	w.must(os.WriteFile(w.path, empty, 0o600))
	w.replaced()
	w.start()
	for range 3 {
		w.users = append(w.users, w.running.newUser(t, fmt.Sprintf("user %d", len(w.users))))
	}
	return w
}

func (w *world) now() time.Time { return time.Now().Add(w.skew).UTC().Truncate(time.Millisecond) }

// upTo returns a duration below another.
func (w *world) upTo(most time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(most)))
}

// note adds a line to the history.
func (w *world) note(format string, args ...any) {
	w.history = append(w.history, w.now().Format("02 15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// violated reports a broken promise.
func (w *world) violated(format string, args ...any) {
	w.t.Helper()
	w.note("BROKEN: "+format, args...)
	w.t.Errorf(format, args...)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.violated("%v", err)
	}
}

// step does one thing, of clients mostly.
func (w *world) step() {
	time.Sleep(w.upTo(300 * time.Millisecond))
	if w.disk.IsKilled() || w.isDying && w.random.IntN(8) == 0 {
		w.die()
	}
	switch n := w.random.IntN(100); {
	case n < 80:
		w.act()
	case n < 88:
		w.follow(kinds[w.random.IntN(len(kinds))])
	default:
		w.operate()
	}
}

func (w *world) start() {
	w.note("start")
	p, err := start(w)
	if err != nil {
		w.violated("start: %v", err)
		w.t.FailNow()
	}
	w.running = p
}

func (w *world) end() {
	w.note("end")
	w.running.end(w.t)
	w.running = nil
}

// stop ends the world.
func (w *world) stop() {
	w.disk.Kill()
	if w.running != nil {
		w.end()
	}
}
