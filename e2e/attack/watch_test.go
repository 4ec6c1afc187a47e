package attack

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/waybooktest"
)

// state is what a program holds.
type state struct{ heapMiB, goroutines, descriptors float64 }

// watched is a program whose state was read, and whose admin port is asked all the time.
type watched struct {
	program *launch.Process
	before  state
	probes  chan error
	stop    chan struct{}
}

// more is what a program may hold more than before: for connections of the test.
var more = state{goroutines: 4 * attackers, descriptors: 2 * attackers, heapMiB: 8}

const (
	// settling is how long a program may take to give everything back. Connections that were broken
	// off have deadlines of up to 30 seconds.
	settling = time.Minute
	// probeTime is how long a probe may take. It is measured only if nothing else has the processor.
	probeTime = 100 * time.Millisecond
)

// watch begins to watch a program that holds little more than a state.
func watch(t *testing.T, p *launch.Process, idle state) *watched {
	t.Helper()
	w := &watched{program: p, before: settled(t, p, idle), probes: make(chan error, 1), stop: make(chan struct{})}
	client := waybooktest.OnceAt(t, p.Admin)
	client.URL = "http://" + p.Admin + "/healthz"
	go func() { w.probes <- probe(client, w.stop) }()
	return w
}

// probe asks the admin port whether the program lives. A probe that is slow or fails is repeated once.
func probe(client *waybooktest.Client, stop <-chan struct{}) error {
	test := client.Context
	ask := func() error {
		ctx, cancel := context.WithTimeout(test, 10*time.Second)
		defer cancel()
		client.Context = ctx
		began := time.Now()
		reply, err := client.Try(client.Request(http.MethodGet, "", nil))
		if err != nil {
			return err
		}
		if took := time.Since(began); isAlone() && took > probeTime {
			return fmt.Errorf("took %v", took)
		}
		if reply.Code != http.StatusOK {
			return fmt.Errorf("got %d", reply.Code)
		}
		return nil
	}
	pace := time.NewTicker(probeTime)
	defer pace.Stop()
	for {
		select {
		case <-pace.C:
		case <-stop:
			return nil
		}
		if ask() == nil {
			continue
		}
		if err := ask(); err != nil {
			return fmt.Errorf("/healthz of the admin port: %w", err)
		}
	}
}

// end checks that the program lives, has logged no panic and holds no more than before.
func (w *watched) end(t *testing.T) {
	t.Helper()
	close(w.stop)
	if err := <-w.probes; err != nil {
		t.Error(err)
	}
	if !w.program.Alive() {
		t.Fatalf("the program has ended.\n%s", w.program.Printed())
	}
	if logged := w.program.Logged(); strings.Contains(logged, "panic") {
		t.Errorf("the program panicked.\n%s", logged)
	}
	t.Logf("before %+v, after %+v", w.before, settled(t, w.program, w.before))
}

// settled waits until a program holds little more than a state, and returns what it holds then.
func settled(t *testing.T, p *launch.Process, than state) (now state) {
	t.Helper()
	for end := time.Now().Add(settling); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		now = stateOf(t, p)
		if now.goroutines <= than.goroutines+more.goroutines && now.descriptors <= than.descriptors+more.descriptors &&
			now.heapMiB <= than.heapMiB+more.heapMiB {
			return now
		}
	}
	t.Errorf("the program holds %+v, and had %+v\n%s", now, than, launch.Get(t, "http://"+p.Admin+"/debug/pprof/goroutine?debug=1"))
	return now
}

// stateOf reads the state of a program after a collection of garbage.
func stateOf(t *testing.T, p *launch.Process) (s state) {
	t.Helper()
	launch.Get(t, "http://"+p.Admin+"/debug/pprof/heap?gc=1")
	descriptors, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID()))
	if err != nil {
		t.Skipf("SKIPPED: this system does not show the descriptors of a process: %v", err)
	}
	s.descriptors = float64(len(descriptors))
	for name, value := range map[string]*float64{"go_goroutines": &s.goroutines, "go_memstats_heap_alloc_bytes": &s.heapMiB} {
		found := false
		if *value, found = launch.Metric(t, p.Admin, name); !found {
			t.Fatalf("there is no metric %s", name)
		}
	}
	s.heapMiB /= 1 << 20
	return s
}
