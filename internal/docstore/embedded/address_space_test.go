//go:build linux && !race

package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const limitedEnv = "WAYBOOK_TEST_LIMITED_FILE"

// A child process has 16 GiB of address space, less than the engine reserves. The race detector
// needs more than that.
func TestAStoreOpensWithLittleAddressSpace(t *testing.T) {
	if path := os.Getenv(limitedEnv); path != "" {
		must(t, syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 16 << 30, Max: 16 << 30}))
		engine := open(t, path)
		insert(t, fill(t, engine, 1), 2)
		shut(t, engine)
		return
	}
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	process.Env = append(os.Environ(), limitedEnv+"="+filepath.Join(t.TempDir(), "store.db"))
	if out, err := process.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
