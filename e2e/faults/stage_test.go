//go:build linux

package faults

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// stageVariable names the program that this binary becomes.
const stageVariable = "FAULTS_PROGRAM"

func TestMain(m *testing.M) {
	path := os.Getenv(stageVariable)
	if path == "" {
		os.Exit(runAll(m))
	}
	fmt.Fprintln(os.Stderr, become(path))
	os.Exit(1)
}

// become replaces this process by a program. Its writes beyond a file size limit fail instead of
// ending the process.
func become(path string) error {
	// Signals that the executing thread blocks stay blocked.
	var blocked unix.Sigset_t
	blocked.Val[0] = 1 << (unix.SIGXFSZ - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, nil); err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
}

// limitFiles rejects writes of a process beyond a file size.
func limitFiles(t *testing.T, pid int, bytes uint64) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = min(bytes, limit.Max)
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}
