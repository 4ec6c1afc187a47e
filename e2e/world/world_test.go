// Package world runs all of Waybook in one process on fake time, without sockets: clients that act at the same
// time, the edge and the services, followers, and an operator. It runs on one of two systems: a machine
// with one program, whose disk forgets what was not synced, and a cluster of programs whose store fails as
// MongoDB does. A model that knows docs/contract.md checks every reply.
//
// A seed decides the history, but for how many pages bbolt writes in a commit, which depends on the order of a map.
// WAYBOOK_SEEDS and WAYBOOK_FIRST_SEED choose seeds.
package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/storetest"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// steps is the length of a history, and reward what a blog earns.
const steps, reward = 80, 10

func TestWhatWasPromisedHoldsOnAMachine(t *testing.T) {
	empty := emptyStore(t)
	testSeeds(t, func(w *world) system { return newMachine(w, empty) })
}

func TestWhatWasPromisedHoldsOnACluster(t *testing.T) { testSeeds(t, newCluster) }

// TestASeedRepeatsItsHistory expects that of most seeds on each system.
func TestASeedRepeatsItsHistory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	empty := emptyStore(t)
	seeds := longform.Number(4, 40)
	for name, build := range map[string]func(*world) system{
		"a machine": func(w *world) system { return newMachine(w, empty) }, "a cluster": newCluster,
	} {
		same := 0
		for seed := range uint64(seeds) { // #nosec G115 -- not negative
			first, second := play(t, seed, build, allSteps()).history, play(t, seed, build, allSteps()).history
			if slices.Equal(first, second) {
				same++
			}
		}
		t.Logf("%d of %d seeds repeat their histories on %s", same, seeds, name)
		if same < seeds*3/4 {
			t.Fail()
		}
	}
}

// allSteps returns the numbers of all steps of a history.
func allSteps() []int {
	all := make([]int, steps)
	for n := range all {
		all[n] = n
	}
	return all
}

// testSeeds runs a history on a new system for each seed.
func testSeeds(t *testing.T, build func(*world) system) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	began, passed, replies := time.Now(), time.Duration(0), 0
	storetest.SomeSeeds(t, longform.Number(20, 150), func(t *testing.T, seed uint64) {
		all := allSteps()
		first := play(t, seed, build, all)
		passed, replies = passed+first.passed, replies+first.replies
		if len(first.broken) > 0 {
			shortest := shortened(first, all, func(some []int) *world { return play(t, seed, build, some) })
			t.Errorf("%s\nhistory of seed %d:\n%s", strings.Join(shortest.broken, "\n"), seed, strings.Join(shortest.history, "\n"))
		}
	})
	t.Logf("%.0f days and %d replies in %v", passed.Hours()/24, replies, time.Since(began).Round(time.Second))
}

// play runs some steps of the history of a seed, each as the seed chooses it for its number.
func play(t *testing.T, seed uint64, build func(*world) system, some []int) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, seed, build)
		began := time.Now()
		defer func() { w.passed = time.Since(began) }()
		defer w.system.stop()
		defer w.giveUp()
		for _, n := range some {
			w.reseed(uint64(1 + n)) // #nosec G115 -- not negative
			if w.step(); len(w.broken) > 0 {
				break
			}
		}
		if len(w.broken) == 0 {
			w.settle()
			w.pass(sweptWithin)
			w.hasFiles(true)
			w.system.check()
		}
	})
	return w
}

// reseed decides all that is random from now on, in the world and in what it runs.
func (w *world) reseed(part uint64) {
	w.source.Seed(w.seed, part)
	cryptotest.SetGlobalRandom(w.t, rand.NewPCG(part, w.seed).Uint64())
}

// cannotStart ends a history in which a program does not start.
type cannotStart struct{}

func (w *world) giveUp() {
	if r := recover(); r != nil && r != (cannotStart{}) {
		panic(r)
	}
}

// shortening bounds how long a history is played again and again to shorten it.
const shortening = 20 * time.Second

// shortened leaves out steps as long as a promise is broken, and returns the last world in which one was.
func shortened(w *world, all []int, play func(some []int) *world) *world {
	began := time.Now()
	for size := len(all) / 2; size > 0; size /= 2 {
		for from := len(all) - size; from >= 0 && time.Since(began) < shortening; from -= size {
			some := slices.Delete(slices.Clone(all), from, from+size)
			if next := play(some); len(next.broken) > 0 {
				w, all = next, some
			}
		}
	}
	return w
}

// world is a store with the programs that serve it, and those who use it.
type world struct {
	t      *testing.T
	seed   uint64
	source *rand.PCG
	random *rand.Rand
	system system
	// programs are those that run now.
	programs  []*program
	turns     turns
	model     model
	followers map[*kind]*follower
	users     []*user
	// files are those of photos. cuts are of clients that end in the middle, by their numbers.
	files shelves
	cuts  map[int]*cut
	// mayFail: operations may get no answer, because a process may die or the store is in trouble.
	mayFail bool
	// mayMiscount: a choice may have been interrupted, and no sweep has counted it since.
	mayMiscount bool
	// mayUndo: reads may show what is undone later, or lack what is there.
	mayUndo bool
	// mayBeOld: what a majority has may be read as it was before an election.
	mayBeOld bool
	// isOneClock: all identifiers come from one clock, so that the contents of a user are in their order.
	isOneClock bool
	// isSmall: identifiers have 31 bits.
	isSmall bool
	// mostAhead is how far a clock was ahead of the time in the bubble at most. mayStart is the time that the clock of
	// a program that starts has reached.
	mostAhead time.Duration
	mayStart  time.Time
	// isBlind: a closed session may be accepted for long.
	isBlind bool
	// hasVersions: programs and callers may be of a later version.
	hasVersions bool
	// ticks are the moments of the model.
	ticks int
	// passed is how long the history took, and replies how many there were.
	passed  time.Duration
	replies int
	// history is what has happened, and broken the promises that were broken.
	history, broken []string
}

// system is what the programs run on, with its operator.
type system interface {
	// operate does what operators do, and what happens to machines.
	operate()
	// revive starts programs in the place of those that have died. It may let others die.
	revive()
	// whileWell calls f without any trouble of the store, which goes on afterwards. calm ends all trouble.
	whileWell(f func() error) error
	calm()
	// restart stops and starts all programs.
	restart()
	// tend does what operators do in time before so much time passes.
	tend(time.Duration)
	// check looks at the store as waybookctl does.
	check()
	// stop ends all programs.
	stop()
}

// newWorld starts programs on an empty store.
func newWorld(t *testing.T, seed uint64, build func(*world) system) *world {
	time.Sleep(time.Until(time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)))
	source := &rand.PCG{}
	w := &world{
		t: t, seed: seed, source: source, random: rand.New(source), model: newModel(), files: shelves{}, cuts: map[int]*cut{},
		followers: map[*kind]*follower{kinds[0]: {}, kinds[1]: {}, kinds[2]: {}},
	}
	w.reseed(0)
	w.isSmall = w.random.IntN(worldsForSmall) == 0
	w.system = build(w)
	for range 4 {
		w.users = append(w.users, w.anyProgram().newUser(w, len(w.users)))
	}
	return w
}

func (w *world) anyProgram() *program { return w.programs[w.random.IntN(len(w.programs))] }

// upTo returns a duration below another.
func (w *world) upTo(most time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(most)))
}

// note adds a line to the history.
func (w *world) note(format string, args ...any) {
	w.history = append(w.history, time.Now().UTC().Format("02 15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// violated notes a broken promise.
func (w *world) violated(format string, args ...any) {
	w.note("BROKEN: "+format, args...)
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

func (w *world) must(err error) {
	if err != nil {
		w.violated("%v", err)
	}
}

// isClean notes what a check of the store has found.
func (w *world) isClean(report storekeeping.Report, err error) {
	w.must(err)
	for _, finding := range report.Findings {
		if finding.Kind != storekeeping.MissingFile { // it does not see the files of a world
			w.violated("the check finds %+v", finding)
		}
	}
}

// step does one thing, of clients mostly.
func (w *world) step() {
	time.Sleep(w.upTo(300 * time.Millisecond))
	w.system.revive()
	u := w.users[w.random.IntN(len(w.users))]
	switch n := w.random.IntN(100); {
	case n < 2:
		w.changeSession(u)
	case n < 4:
		w.useClosedSession()
	case n < 6:
		w.turns.run(w.random, []func(){func() { w.moveSomething(u) }})
	case n < 8:
		w.comeAndGo()
	case n < 56:
		w.turns.run(w.random, []func(){func() { w.act(u) }})
	case n < 76:
		w.together()
	case n < 82:
		w.follow(kinds[w.random.IntN(len(kinds))])
	case n < 84:
		w.followRestless()
	case n < 86:
		w.hideSomeone()
	case n < 88:
		w.sweepDuringUploads()
	default:
		w.system.operate()
	}
}

// together lets several users act at the same time, and perhaps a sweep.
func (w *world) together() {
	w.note("at the same time:")
	var all []func()
	for _, number := range w.random.Perm(len(w.users))[:2+w.random.IntN(len(w.users)-1)] {
		all = append(all, func() { w.act(w.users[number]) })
	}
	if p := w.anyProgram(); w.random.IntN(4) == 0 {
		all = append(all, func() { p.sweep(w) })
	}
	w.turns.run(w.random, all)
	w.note("each has ended")
}

// run starts a program. A start may need a store that answers.
func (w *world) run(p *program) *program {
	w.note("start")
	err := p.start(w)
	if w.mayFail && errors.Is(err, docstore.ErrUnavailable) {
		w.note("it fails and is repeated: %v", err)
		p.end(w)
		err = w.system.whileWell(func() error { return p.start(w) })
	}
	if err != nil {
		w.violated("start: %v", err)
		panic(cannotStart{})
	}
	return p
}

// pass lets time pass, with sweeps as often as two hundred times. In trouble, when each takes long, there are
// twenty.
func (w *world) pass(long time.Duration) {
	w.note("%v pass", long)
	most := time.Duration(200)
	if w.mayUndo {
		most = 20
	}
	step := max(time.Minute, long/most)
	for left := long; left > 0; left -= step {
		w.system.tend(step)
		time.Sleep(min(left, step))
		for _, p := range w.programs {
			p.sweep(w)
		}
		w.mayMiscount = w.mayMiscount && w.mayFail
	}
}

// settle checks everything at rest: each content, each list, the rewards, and the copies of the followers.
func (w *world) settle() {
	w.system.calm()
	w.note("settle")
	w.pass(5 * time.Minute)
	w.mayUndo, w.isBlind = false, false
	w.finish()
	w.readAll()
	w.hasFiles(false)
	for _, c := range w.model.contents {
		w.hasRecommenders(c)
		w.showsFiles(c)
	}
	for _, u := range w.users {
		w.hasRewards(u)
	}
	w.hasNothing()
	for _, k := range kinds {
		w.hasCopy(k)
	}
}
