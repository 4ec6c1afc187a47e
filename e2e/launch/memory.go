package launch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// MemoryMiB is the anonymous memory that a process holds: its own, without the pages of
// its store that the kernel has mapped. It skips the test where the kernel does not tell.
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
	t.Fatal("the kernel does not tell RssAnon")
	return 0
}
