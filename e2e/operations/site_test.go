package operations_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// site is a running Waybook, in one process or several.
type site struct {
	http, account, album string
	processes            map[string]*launch.Process
}

// deployments are functions that start a site; args are passed to each process.
var deployments = map[string]func(t *testing.T, data string, args ...string) site{
	"one process": func(t *testing.T, data string, args ...string) site {
		p := launch.Start(t, filepath.Join(binaries, "standalone"), data, append([]string{"-demo=false", "-access-log"}, args...)...)
		return site{p.HTTP, p.GRPC, p.GRPC, map[string]*launch.Process{"standalone": p}}
	},
	"separate processes": func(t *testing.T, data string, args ...string) site {
		p := launch.StartPrograms(t, binaries, data, args...)
		return site{p["edge"].HTTP, p["account"].GRPC, p["album"].GRPC, p}
	},
}

// end ends all processes, each before the processes that it depends on.
func (s site) end(t *testing.T) {
	t.Helper()
	for _, name := range []string{"standalone", "edge", "poi", "blog", "album", "account"} {
		if p := s.processes[name]; p != nil && p.Alive() {
			if status := p.End(os.Interrupt); status != 0 {
				t.Errorf("%s: status %d\n%s", name, status, p.Printed())
			}
		}
	}
}
