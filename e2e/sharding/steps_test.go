package sharding_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/mongowire"
	"github.com/waybook/waybook/internal/waybooktest"
)

// stepsFile has the steps of each operation with nothing in the caches: how many commands are in flight together, one
// step after the other. With -update an operation without a line gets the steps that it has now: read whether they are as few
// as they may be.
const stepsFile = "testdata/steps.txt"

// stepsOfOperations returns the lines of stepsFile.
func stepsOfOperations(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(stepsFile)
	waybooktest.OK(t, err)
	steps := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, of, _ := strings.Cut(strings.TrimSpace(line), ": ")
		steps[name] = of
	}
	return steps
}

// stepsOf returns the steps of an operation.
func stepsOf(t *testing.T, each operation) (steps []int) {
	t.Helper()
	for _, field := range strings.Fields(stepsOfOperations(t)[each.name]) {
		n, err := strconv.Atoi(field)
		waybooktest.OK(t, err)
		steps = append(steps, n)
	}
	if len(steps) == 0 {
		t.Fatalf("%s lacks %s: run tools/update", stepsFile, each.name)
	}
	return steps
}

// stuck is how long an operation may lack commands before the test gives up: less than the edge
// waits for a service. A test that passes waits for commands only.
const stuck = 8 * time.Second

// gate holds back the commands on documents until as many have arrived as the present step has.
// So the commands of a step are in flight at the same time, and none needs the reply to another.
type gate struct {
	isData func(mongowire.Command) bool

	mu   sync.Mutex
	want []int
	// at is the present step. held are its commands, which wait for release.
	at      int
	held    []string
	release chan struct{}
	// seen are the commands of each step.
	seen []string
	// settled passes the commands of a step that is not known: when no further one has come for a while.
	settled *time.Timer
}

// choose holds a command back until its step is complete.
func (s *gate) choose(command mongowire.Command) mongowire.Fault {
	if !s.isData(command) {
		return mongowire.Fault{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, command.Name+" "+command.Collection)
	hold := s.release
	switch {
	case s.settled != nil:
		s.settled.Reset(quiet)
	case s.at >= len(s.want) || len(s.held) == s.want[s.at]:
		s.pass()
	}
	return mongowire.Fault{Hold: hold}
}

// quiet is how long no command comes when all of a step are there.
const quiet = 200 * time.Millisecond

// measure returns the steps that an operation has on a process.
func (c *cluster) measure(t *testing.T, p *replica, each operation, about material) string {
	t.Helper()
	s := &gate{isData: c.isData, release: make(chan struct{})}
	s.settled = time.AfterFunc(time.Hour, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pass()
	})
	defer s.settled.Stop()
	c.server.SetFaults(s.choose)
	defer c.server.SetFaults(nil)
	each.run(t, p, about)
	var steps strings.Builder
	for _, commands := range s.seen {
		fmt.Fprintf(&steps, " %d", 1+strings.Count(commands, " + "))
	}
	return strings.TrimSpace(steps.String())
}

// pass lets the held commands pass. The caller holds mu.
func (s *gate) pass() {
	slices.Sort(s.held)
	s.seen = append(s.seen, strings.Join(s.held, " + "))
	close(s.release)
	s.held, s.release = nil, make(chan struct{})
	s.at++
}

// giveUp lets all commands pass, one by one from now on.
func (s *gate) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = nil
	s.pass()
}

// shown returns the commands of each step.
func (s *gate) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for i, each := range s.seen {
		fmt.Fprintf(&b, "\n%d. %s", i+1, each)
	}
	return b.String()
}

// inSteps runs an operation on a process, and checks that its commands come in the operation's
// steps.
func (c *cluster) inSteps(t *testing.T, p *replica, each operation, about material) {
	t.Helper()
	want := stepsOf(t, each)
	s := &gate{isData: c.isData, want: want, release: make(chan struct{})}
	c.server.SetFaults(s.choose)
	defer c.server.SetFaults(nil)
	tooLong := time.AfterFunc(stuck, s.giveUp)
	each.run(t, p, about)
	if !tooLong.Stop() || s.at != len(want) {
		t.Fatalf("%s has other steps than %v:%s", each.name, want, s.shown())
	}
}

// TestCommandsThatNeedNoReplyOfAnotherAreInFlightTogether runs each operation with nothing in the
// caches. testdata/shards.md has what they ask.
func TestCommandsThatNeedNoReplyOfAnotherAreInFlightTogether(t *testing.T) {
	if !*update { // the tables are made with what it measures
		t.Parallel()
	}
	c := startCluster(t)
	about := c.fill(c.start(c.engine))
	steps, all := stepsOfOperations(t), operations()
	var lines []string
	var rows []row
	for _, each := range all {
		p := c.start(c.engine)
		a := c.ask(c.commandsOf(p, func() {
			if steps[each.name] == "" && *update {
				steps[each.name] = c.measure(t, p, each, about)
			} else {
				c.inSteps(t, p, each, about)
			}
		}))
		lines = append(lines, each.name+": "+steps[each.name]+"\n")
		rows = append(rows, row{each.name, fmt.Sprintf("| %d | %d | %s | %s |", a.commands, len(strings.Fields(steps[each.name])), a.shards(), a.which())})
	}
	expectTable(t, "testdata/shards.md", tableOf(rows))
	if slices.Sort(lines); *update {
		waybooktest.OK(t, os.WriteFile(stepsFile, []byte(strings.Join(lines, "")), 0o644))
	} else if len(steps) != len(all) {
		t.Errorf("%s has %d operations, and there are %d: run tools/update", stepsFile, len(steps), len(all))
	}
}
