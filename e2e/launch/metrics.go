package launch

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/waybooktest"
)

// Get returns the body of the reply to a GET. Its connection is closed after the reply.
func Get(t testing.TB, url string) string {
	t.Helper()
	client := waybooktest.OnceAt(t, "")
	client.URL = url
	reply, err := client.Try(client.Request(http.MethodGet, "", nil))
	if err != nil {
		t.Fatal(err)
	}
	return reply.Body
}

// Metrics returns the metrics that an admin port serves.
func Metrics(t testing.TB, admin string) string {
	t.Helper()
	return Get(t, "http://"+admin+"/metrics")
}

// Metric returns the value of a metric without labels. found is false if the port has none of that
// name.
func Metric(t testing.TB, admin, name string) (value float64, found bool) {
	t.Helper()
	for line := range strings.Lines(Metrics(t, admin)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return value, true
		}
	}
	return 0, false
}

// Memory is the memory of a process in MiB. File are mapped pages of its program and its store,
// which the kernel can reclaim; Anonymous is its own memory. Peak is the highest sum so far.
type Memory struct{ Anonymous, File, Peak float64 }

// MemoryOf reads the memory of a process from the kernel. It skips the test on systems without
// /proc/<pid>/status.
func MemoryOf(t testing.TB, p *Process) Memory {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED: this system has no /proc/<pid>/status, so memory can't be measured")
	}
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "kB" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			values[fields[0]] = kib / 1024
		}
	}
	return Memory{values["RssAnon:"], values["RssFile:"], values["VmHWM:"]}
}

// ForgetPeak resets the peak.
func ForgetPeak(t testing.TB, p *Process) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0); err != nil {
		t.Logf("the peak counts from the start of the process: %v", err)
	}
}
