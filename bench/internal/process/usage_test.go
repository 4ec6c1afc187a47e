package process

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestACPUTimeIsThatOfAProcessAndItsEndedChildren(t *testing.T) {
	const text = "17 (a) b (c)) S 4 17 17 0 -1 4194560 900 0 0 0 120 30 7 3 20 0 1 0 1000 4096 10 18446744073709551615 0 0\n"
	pid, parent, cpu, err := parseStat(text)
	if err != nil || pid != 17 || parent != 4 || cpu != 1600*time.Millisecond {
		t.Errorf("got process %d of %d, %v, %v", pid, parent, cpu, err)
	}
	for _, broken := range []string{"", "17 (a) S 4", "x (a) S 4 17 17 0 -1 4194560 900 0 0 0 120 30 7 3 20\n"} {
		if _, _, _, err := parseStat(broken); err == nil {
			t.Errorf("%q: got no error", broken)
		}
	}
}

func TestAForeignProgramThatEndsIsReportedWithItsOutput(t *testing.T) {
	_, err := StartForeign("unix", filepath.Join(t.TempDir(), "none"), "/bin/sh", "-c", "echo unknown option; exit 2")
	if err == nil || !strings.Contains(err.Error(), "unknown option") {
		t.Errorf("got %v", err)
	}
}
