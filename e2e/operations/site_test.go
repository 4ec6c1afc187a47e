package operations_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// send sends a request and returns the header and the body of the reply.
func send(t *testing.T, request *http.Request) (http.Header, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.Header, string(body)
}

func get(t *testing.T, url string) (http.Header, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, request)
}
