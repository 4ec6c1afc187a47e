//go:build linux

package faults

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// stageVariable names the program that this binary becomes.
	stageVariable = "FAULTS_PROGRAM"
	// noSyncVariable makes the system refuse to sync commits.
	noSyncVariable = "FAULTS_SYNC_FAILS"
)

func TestMain(m *testing.M) {
	path := os.Getenv(stageVariable)
	if path == "" {
		os.Exit(runAll(m))
	}
	fmt.Fprintln(os.Stderr, become(path, os.Getenv(noSyncVariable) != ""))
	os.Exit(1)
}

// become replaces this process by a program. Its writes beyond a file size limit fail instead of
// ending the process, and its syncs fail if doSyncsFail is set.
func become(path string, doSyncsFail bool) error {
	// Both settings apply to the thread that executes the program. Blocked signals stay blocked.
	var blocked unix.Sigset_t
	blocked.Val[0] = 1 << (unix.SIGXFSZ - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, nil); err != nil {
		return err
	}
	if doSyncsFail {
		if err := refuseSyncs(); err != nil {
			return err
		}
	}
	return syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
}

// refuseSyncs makes fdatasync, with which commits sync, fail with EIO from now on. A program does not
// start if fsync fails.
func refuseSyncs() error {
	const numberOffset = 0 // of the system call, in seccomp_data
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: numberOffset}
	jump := func(number uint32, distance uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jt: distance}
	}
	program := []unix.SockFilter{
		load, jump(unix.SYS_FDATASYNC, 1),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0)
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
