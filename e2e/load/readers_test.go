package load

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/edge"
	"github.com/waybook/waybook/internal/waybooktest"
)

// startEdge starts an edge in this process, in front of a program's services. It sends the reason
// of each request's end to ended.
func startEdge(t *testing.T, p *launch.Process, writeTimeout time.Duration, ended chan<- string) (address string) {
	t.Helper()
	server := httptest.NewServer(waybooktest.Connect(t, p.GRPC).EdgeWith(func(c *edge.Config) {
		c.WriteTimeout, c.Observe = writeTimeout, func(_ *http.Request, a edge.Answer) { ended <- a.Reason }
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestStalledReadersAreDisconnectedAndLeaveNothingBehind(t *testing.T) {
	const readers = 32
	p := launch.Start(t, binary, filled(t, 6000), "-demo=false")
	ended := make(chan string, readers+1)
	address := startEdge(t, p, 100*time.Millisecond, ended)
	readAll(t, address)
	<-ended
	goroutines, heap := runtime.NumGoroutine(), heapInUse()
	service := goroutinesOf(t, p)

	var connections []net.Conn
	for range readers {
		connections = append(connections, launch.StopReading(t, address, listQuery))
	}
	for range readers {
		if reason := <-ended; reason != "CLIENT_GONE" {
			t.Errorf("a request ended with %q", reason)
		}
	}
	for _, connection := range connections {
		rest, err := io.ReadAll(connection)
		if err == nil && strings.HasSuffix(string(rest), "\r\n0\r\n\r\n") {
			t.Error("a disconnected reader received a complete reply")
		}
		_ = connection.Close()
	}
	// The runtime and the connection pool may hold a few goroutines more or less.
	await(t, "goroutines of the edge", func() bool { return runtime.NumGoroutine() <= goroutines+4 })
	await(t, "goroutines of the services", func() bool { return goroutinesOf(t, p) <= service+4 })
	if after := heapInUse(); after > heap+16<<20 {
		t.Errorf("the heap went from %d to %d bytes", heap, after)
	}
	readAll(t, address) // other clients are served as before
}

func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse
}

// await waits until a condition holds. It fails after a minute.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for limit := time.Now().Add(time.Minute); !holds(); <-ticker.C {
		if time.Now().After(limit) {
			t.Fatalf("%s: did not return to the earlier number", what)
		}
	}
}

// readAll reads the whole list on its own connection.
func readAll(t testing.TB, address string) {
	t.Helper()
	waybooktest.OnceAt(t, address).Get(listQuery).MustSucceed(t)
}

// goroutinesOf returns the number of goroutines of a process.
func goroutinesOf(t testing.TB, p *launch.Process) int {
	t.Helper()
	return int(metricOf(t, p, "go_goroutines"))
}

// metricOf returns one metric of a process.
func metricOf(t testing.TB, p *launch.Process, name string) float64 {
	t.Helper()
	value, found := launch.Metric(t, p.Admin, name)
	if !found {
		t.Fatalf("the metrics have no %s", name)
	}
	return value
}
