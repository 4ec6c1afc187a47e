package launch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// MemoryMiB returns the anonymous memory of a process in MiB: its own memory, without the mapped
// pages of its store. It skips the test on systems without /proc/<pid>/status.
func MemoryMiB(t testing.TB, p *Process) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED: this system has no /proc/<pid>/status, so memory can't be measured")
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib / 1024
		}
	}
	t.Fatal("/proc/<pid>/status has no RssAnon")
	return 0
}
