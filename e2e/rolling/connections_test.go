package rolling

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/manifestrun"
)

// awaitClients waits until a restarted pod has as many connections as before. Some callers
// reconnect only after a while; if the other replica ended earlier, they would have none. In a
// cluster, minReadySeconds serves that purpose. On systems that do not report connections, one call
// is enough.
func awaitClients(t *testing.T, pod *manifestrun.Pod, before int) {
	t.Helper()
	awaitMetric(t, pod, served, func(count float64) bool { return count > 0 })
	for deadline := time.Now().Add(patience); connections(t, pod) < before; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s has %d connections, and had %d:\n%s", pod.Name, connections(t, pod), before, pod.Printed())
		}
	}
}

// callers returns the number of pods that call a service. A pod may briefly have more connections,
// because those of fill take a moment to close.
func callers(fleet *manifestrun.Fleet, service string) int {
	count := len(fleet.Of("edge"))
	if service == "account" {
		for _, each := range []string{"album", "blog", "poi"} {
			count += len(fleet.Of(each))
		}
	}
	return count
}

// connections returns the number of open connections to a pod on Linux, and 0 on other systems.
func connections(t *testing.T, pod *manifestrun.Pod) (open int) {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(pod.Address())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	const established = "01"
	local := fmt.Appendf(nil, ":%04X", number)
	for line := range bytes.Lines(table) {
		// sl, local address, remote address, state
		if columns := bytes.Fields(line); len(columns) > 3 && bytes.HasSuffix(columns[1], local) && string(columns[3]) == established {
			open++
		}
	}
	return open
}
