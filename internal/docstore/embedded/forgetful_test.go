package embedded_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/docstore/embedded/forgetful"
	"github.com/waybook/waybook/internal/longform"
)

// ballotIDs is how many ballots a world may have.
const ballotIDs = 40

// world is a store on a forgetful disk, and what its clients know of it.
type world struct {
	t      *testing.T
	random *rand.Rand
	path   string
	disk   *forgetful.Disk
	engine *embedded.Engine
	c      *ballots
	// stored has the version of each ballot; 0 stands for none.
	stored map[int64]int64
	// open has the version that a write left open, if it is neither acknowledged nor refused.
	open map[int64]int64
}

func newWorld(t *testing.T, seed uint64) *world {
	random := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "store.db")
	return &world{t: t, random: random, path: path, disk: forgetful.New(path, random), stored: make(map[int64]int64), open: make(map[int64]int64)}
}

// begin gives the world a copy of a store.
func (w *world) begin(from string) {
	w.t.Helper()
	contents, err := os.ReadFile(from)
	must(w.t, err)
	must(w.t, os.WriteFile(w.path, contents, 0o600))
	w.disk = forgetful.New(w.path, w.random)
}

// start opens the store and reads all of it. It reports whether the process was not killed meanwhile.
func (w *world) start() bool {
	w.t.Helper()
	engine, err := w.disk.Open()
	if err == nil {
		w.engine = engine
		w.c, err = docstore.Open[int64, ballot](w.t.Context(), engine, ballotSpec())
	}
	if errors.Is(err, forgetful.ErrKilled) || errors.Is(err, syscall.EIO) || errors.Is(err, docstore.ErrUnavailable) {
		w.stop()
		return false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.verify()
	return true
}

// stop closes what is left of a process.
func (w *world) stop() {
	w.t.Helper()
	if w.engine != nil {
		shut(w.t, w.engine)
	}
	w.engine, w.c = nil, nil
}

// verify compares the store with what clients know. What it sees is durable.
func (w *world) verify() {
	w.t.Helper()
	if err := w.engine.Check(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	for id := range int64(ballotIDs) {
		found, err := w.c.Get(w.t.Context(), id, docstore.Linearizable)
		if errors.Is(err, docstore.ErrNotFound) {
			found, err = ballot{}, nil
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if open, isOpen := w.open[id]; found.Version != w.stored[id] && !(isOpen && found.Version == open) {
			w.t.Fatalf("ballot %d has version %d, want %d", id, found.Version, w.stored[id])
		}
		if found.Version != 0 && found != ballotOf(id, found.Version) {
			w.t.Fatalf("ballot %d is damaged: %+v", id, found)
		}
		w.stored[id] = found.Version
	}
	clear(w.open)
}

// write inserts, changes or deletes a ballot.
func (w *world) write(id int64) error {
	was := w.stored[id]
	next, err := was+1+w.random.Int64N(3), error(nil)
	switch {
	case was == 0:
		err = w.c.Insert(w.t.Context(), ballotOf(id, next))
	case w.random.IntN(3) == 0:
		next = 0
		err = w.c.Delete(w.t.Context(), id)
	default:
		_, err = w.c.Update(w.t.Context(), id, func(b *ballot) error { *b = ballotOf(id, next); return nil })
	}
	if err == nil {
		w.stored[id] = next
	} else if errors.Is(err, docstore.ErrUnavailable) {
		w.open[id] = next
	}
	return err
}

// A commit ends after any of its steps, in particular after the write of the page that makes it
// visible and before the sync of it. The next process shows it or not. The commit after that uses the
// pages that the first one freed, and is killed before it syncs them. If the power fails now, the store
// must be as the process has shown it.
func TestWhatARestartHasShownSurvivesAPowerCut(t *testing.T) {
	t.Parallel()
	steps, seeds := 10, longform.Number(5, 15)
	filled := filepath.Join(t.TempDir(), "store.db")
	engine := open(t, filled)
	first := newWorld(t, 0)
	first.engine, first.c = engine, fill(t, engine, 0)
	for id := range int64(ballotIDs) {
		must(t, first.write(id))
	}
	shut(t, engine)
	for name, interrupt := range map[string]func(*forgetful.Disk, int){"a killed commit": (*forgetful.Disk).KillAfter, "a failed sync": (*forgetful.Disk).FailSync} {
		t.Run(name, func(t *testing.T) {
			for step := range steps {
				for seed := range uint64(seeds) {
					w := newWorld(t, seed)
					w.begin(filled)
					w.stored = maps.Clone(first.stored)
					w.start()
					interrupt(w.disk, step)
					for id := int64(0); id < 3 && w.write(id) == nil; id++ {
					}
					w.stop()
					for !w.start() { // it is the start whose sync failed
					}
					w.disk.KillAfter(1 + w.random.IntN(4))
					for id := int64(3); w.write(id) == nil; id++ {
					}
					w.stop()
					must(t, w.disk.CutPower())
					w.start()
					w.stop()
				}
			}
		})
	}
}

func TestAStoreOnADiskThatDoesNotSyncIsRefused(t *testing.T) {
	w := newWorld(t, 0)
	w.start()
	must(t, w.write(1))
	w.stop()
	w.disk.FailSync(0)
	if _, err := w.disk.Open(); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "repair it, or copy the file to another disk") {
		t.Fatalf("got error %v", err)
	}
	if !w.start() {
		t.Fatal("the store does not start on the repaired disk")
	}
	w.stop()
}

func TestNothingAcknowledgedIsLostOnADiskThatForgets(t *testing.T) {
	t.Parallel()
	seeds := longform.Number(10, 50)
	if text := os.Getenv("WAYBOOK_FORGETFUL_SEEDS"); text != "" {
		var err error
		if seeds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("WAYBOOK_FORGETFUL_SEEDS: %v", err)
		}
	}
	empty := filepath.Join(t.TempDir(), "store.db")
	shut(t, open(t, empty))
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, uint64(seed)) // #nosec G115 -- it is not negative
			if seed%5 > 0 {
				w.begin(empty) // a creation costs several real syncs
			}
			for range 8 {
				w.day()
			}
			w.start()
			w.stop()
		})
	}
}

// day is a process from its start to its end, which is a stop, a kill or a power cut.
func (w *world) day() {
	w.t.Helper()
	switch w.random.IntN(4) {
	case 0:
		w.disk.KillAfter(w.random.IntN(20))
	case 1:
		w.disk.KillAfter(w.random.IntN(400))
	case 2:
		w.disk.FailSync(w.random.IntN(40))
	}
	if w.start() {
		for range w.random.IntN(60) {
			if err := w.write(w.random.Int64N(ballotIDs)); err != nil {
				break
			}
		}
	}
	if w.random.IntN(3) > 0 {
		w.disk.Kill()
	}
	w.stop()
	if w.random.IntN(2) == 0 {
		must(w.t, w.disk.CutPower())
	}
}
