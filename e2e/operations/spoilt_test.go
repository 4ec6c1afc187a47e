//go:build linux

package operations_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/docstore/embedded/spoil"
	"github.com/waybook/waybook/internal/longform"
)

const (
	// spoiltMiB is the memory that a program may take for a small damaged store. spoiltPatience is when a program that still runs gets
	// SIGTERM, and spoiltEnd how long it may then take.
	spoiltMiB      = 256
	spoiltPatience = 30 * time.Second
	spoiltEnd      = 20 * time.Second
)

// spoilt runs programs on a store with one changed number.
type spoilt struct {
	t    *testing.T
	what string
	// seen has what each program took and how it ended.
	seen map[string]*spoiltUse
}

type spoiltUse struct {
	mib, seconds float64
	statuses     map[int]int
}

// Whatever one number of a store's file is changed to, each program ends as it should, in bounds of memory and time, without a stack trace
// and without leaving a file.
func TestAChangedNumberInAStoreHarmsNoProgram(t *testing.T) {
	t.Parallel()
	count, first := longform.Number(4, 20), 0
	for name, into := range map[string]*int{"WAYBOOK_SPOILT_STORES": &count, "WAYBOOK_FIRST_SEED": &first} {
		if text := os.Getenv(name); text != "" {
			var err error
			if *into, err = strconv.Atoi(text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	s := store{t: t}
	s.flags.Data = t.TempDir()
	s.fill()
	whole := []byte(readFile(t, s.file()))
	on := spoilt{t: t, seen: map[string]*spoiltUse{}}
	dumped := filepath.Join(t.TempDir(), "dump")
	on.run("whole dump", nil, "waybookctl", "store", "dump", dumped, "--data", s.flags.Data)
	for seed := first; seed < first+count; seed++ {
		file := bytes.Clone(whole)
		on.what = fmt.Sprintf("seed %d, %s", seed, spoil.Change(file, rand.New(rand.NewPCG(uint64(seed), 0))))
		on.try(file, readFile(t, dumped))
	}
	for _, program := range slices.Sorted(maps.Keys(on.seen)) {
		use := on.seen[program]
		t.Logf("%-12s at most %4.0f MiB and %4.1f s; statuses and how often: %v", program, use.mib, use.seconds, use.statuses)
	}
}

// try runs the programs on a file.
func (s spoilt) try(file []byte, dumped string) {
	s.t.Helper()
	data, out, restored := s.t.TempDir(), s.t.TempDir(), s.t.TempDir()
	path, dump := filepath.Join(data, "waybook.db"), filepath.Join(out, "dump")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		s.t.Fatal(err)
	}
	check, report := s.run("check", nil, "waybookctl", "store", "check", "--data", data)
	if check < 0 || check > 1 || (check == 1) != isDamage(report) {
		s.errorf("check ended with %d:\n%s", check, report)
	}
	status, text := s.run("dump", nil, "waybookctl", "store", "dump", dump, "--data", data)
	s.expect("dump", status, check, text)
	if names := launch.List(s.t, out); status == 1 && len(names) > 0 {
		s.errorf("the dump left %v", names)
	}
	if status == 0 && check == 0 && !strings.Contains(s.what, "meta") && readFile(s.t, dump) != dumped {
		s.errorf("a store without faults has another dump")
	}
	backup := filepath.Join(s.t.TempDir(), "backup.tar")
	if err := pack(path, backup); err != nil {
		s.t.Fatal(err)
	}
	status, text = s.run("restore", nil, "waybookctl", "store", "restore", backup, "--data", restored)
	s.expect("restore", status, check, text)
	if names := launch.List(s.t, restored); status != check || len(names) != 1-status {
		s.errorf("restore ended with %d and left %v", status, names)
	}
	ready := false
	status, text = s.run("standalone", func(printed string, signal func()) {
		if !ready && strings.Contains(printed, "Ctrl-C ends it.") {
			ready = true
			_, address, _ := strings.Cut(printed, "  grpc  ")
			if created := (operator{s.t, strings.Fields(address)[0]}).run("", "user", "create", "x"); created.status != 0 && check == 0 {
				s.errorf("standalone can't write: %s", created.err)
			}
			signal()
		}
	}, "standalone", "-data", data, "-demo=false", "-http", "127.0.0.1:0", "-grpc", "127.0.0.1:0", "-admin", "127.0.0.1:0")
	s.expect("standalone", status, check, text)
	if ready != (status == 0) {
		s.errorf("standalone ended with %d:\n%s", status, text)
	}
	if names := launch.List(s.t, data); !ready && !slices.Equal(names, []string{"waybook.db"}) {
		s.errorf("standalone left %v", names)
	}
}

// expect checks the status of a program on a store that the check found clean or not.
func (s spoilt) expect(program string, status, check int, text string) {
	s.t.Helper()
	if status < 0 || status > 1 || check == 0 && status != 0 || status == 1 && !isDamage(text) {
		s.errorf("%s ended with %d:\n%s", program, status, text)
	}
}

// isDamage reports whether a text says that a store is damaged, or shorter than its meta page says.
func isDamage(text string) bool {
	return strings.Contains(text, "damage") || strings.Contains(text, "truncated")
}

func (s spoilt) errorf(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("%s: %s", s.what, fmt.Sprintf(format, args...))
}

// run runs a program to its end and returns its status and what it printed. watch, unless nil, sees what it has printed so far, and may
// end it.
func (s spoilt) run(name string, watch func(printed string, signal func()), program string, args ...string) (status int, printed string) {
	s.t.Helper()
	out := filepath.Join(s.t.TempDir(), "out")
	file, err := os.Create(out)
	if err != nil {
		s.t.Fatal(err)
	}
	command := exec.Command(filepath.Join(binaries, program), args...)
	command.Stdout, command.Stderr = file, file
	// The kernel counts at least the memory of this test, whose copy the program is before it begins; so its peak is forgotten.
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // where that is not possible, the peak counts
	began := time.Now()
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = command.Wait() // ProcessState has the result
	}()
	signal := func() { _ = command.Process.Signal(syscall.SIGTERM) } // it may have ended
	patience, end := time.After(spoiltPatience), (<-chan time.Time)(nil)
	for isRunning := true; isRunning; {
		select {
		case <-done:
			isRunning = false
		case <-patience:
			s.errorf("%s still runs after %v", name, spoiltPatience)
			signal()
			end = time.After(spoiltEnd)
		case <-end:
			s.errorf("%s still runs %v after SIGTERM", name, spoiltEnd)
			_ = command.Process.Kill() // it may have ended
		case <-time.After(5 * time.Millisecond):
			if watch != nil {
				watch(readFile(s.t, out), func() {
					signal()
					end, watch = time.After(spoiltEnd), nil
				})
			}
		}
	}
	if err := file.Close(); err != nil {
		s.t.Fatal(err)
	}
	printed = readFile(s.t, out)
	for _, trace := range []string{"goroutine ", "panic", "fatal error"} {
		if strings.Contains(printed, trace) {
			s.errorf("%s prints a stack trace:\n%.2000s", name, printed)
			break
		}
	}
	if len(printed) > 10<<10 {
		s.errorf("%s prints %d bytes", name, len(printed))
	}
	status = command.ProcessState.ExitCode()
	s.note(name, command.ProcessState, time.Since(began).Seconds())
	return status, printed
}

// note notes what a program took.
func (s spoilt) note(name string, ended *os.ProcessState, seconds float64) {
	s.t.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		s.t.Fatal(err)
	}
	most := ended.SysUsage().(*syscall.Rusage).Maxrss
	mib := float64(most) / 1024
	if mib > spoiltMiB && most > own.Maxrss {
		s.errorf("%s took %.0f MiB", name, mib)
	}
	use := s.seen[name]
	if use == nil {
		use = &spoiltUse{statuses: map[int]int{}}
		s.seen[name] = use
	}
	use.mib, use.seconds = max(use.mib, mib), max(use.seconds, seconds)
	use.statuses[ended.ExitCode()]++
}
