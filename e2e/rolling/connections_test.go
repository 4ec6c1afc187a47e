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

// awaitClients waits until a pod that was started again has as many connections as before.
// Some of its callers try only after a while; ending the other replica earlier would leave
// them with none. In a cluster that is what minReadySeconds is for. Where the system does
// not tell connections, one call has to do.
func awaitClients(t *testing.T, pod *manifestrun.Pod, before int) {
	t.Helper()
	awaitMetric(t, pod, served, func(count float64) bool { return count > 0 })
	for deadline := time.Now().Add(patience); connections(t, pod) < before; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s has %d connections, and had %d:\n%s", pod.Name, connections(t, pod), before, pod.Printed())
		}
	}
}

// callers is how many pods call those of a service. A pod may have more connections for a
// moment: that of who made the content is closed, but its end takes its time.
func callers(fleet *manifestrun.Fleet, service string) int {
	count := len(fleet.Of("edge"))
	if service == "account" {
		for _, each := range []string{"album", "blog", "poi"} {
			count += len(fleet.Of(each))
		}
	}
	return count
}

// connections is how many connections to a pod are open, as Linux tells; 0 elsewhere.
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
