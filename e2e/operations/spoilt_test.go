//go:build linux

package operations_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/docstore/embedded/spoil"
	"github.com/waybook/waybook/internal/longform"
)

const (
	// spoiltMiB is the memory that waybookctl may take for a small damaged store, and spoiltTime how long it may run.
	spoiltMiB  = 256
	spoiltTime = 30 * time.Second
)

// Whatever one number of a store's file is changed to, each program ends as it should, in bounds of memory and time, without a stack trace
// and without leaving a file.
func TestAChangedNumberInAStoreHarmsNoProgram(t *testing.T) {
	t.Parallel()
	s := store{t: t}
	s.flags.Data = t.TempDir()
	s.fill()
	whole := []byte(readFile(t, s.file()))
	dumped := filepath.Join(t.TempDir(), "dump")
	operator{t, ""}.must("store", "dump", dumped, "--data", s.flags.Data)
	for seed := range uint64(longform.Number(4, 20)) { // #nosec G115 -- not negative
		file := bytes.Clone(whole)
		what := fmt.Sprintf("seed %d, %s", seed, spoil.Change(file, rand.New(rand.NewPCG(seed, 0))))
		t.Run(what, func(t *testing.T) { trySpoilt(t, file, readFile(t, dumped), strings.Contains(what, "meta")) })
	}
}

// trySpoilt runs the programs on a file. One that has no faults has the dump, unless the change is to its meta page.
func trySpoilt(t *testing.T, file []byte, dumped string, isMeta bool) {
	data, out, restored := t.TempDir(), t.TempDir(), t.TempDir()
	path, dump, backup := filepath.Join(data, "waybook.db"), filepath.Join(out, "dump"), filepath.Join(t.TempDir(), "backup.tar")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	check, report := runSpoilt(t, "waybookctl", "store", "check", "--data", data)
	if check < 0 || check > 1 || (check == 1) != isDamage(report) {
		t.Errorf("check ended with %d:\n%s", check, report)
	}
	expect := func(status int, printed string) {
		t.Helper()
		if status < 0 || status > 1 || check == 0 && status != 0 || status == 1 && !isDamage(printed) {
			t.Errorf("it ended with %d:\n%s", status, printed)
		}
	}
	status, printed := runSpoilt(t, "waybookctl", "store", "dump", dump, "--data", data)
	expect(status, printed)
	if names := launch.List(t, out); status == 1 && len(names) > 0 {
		t.Errorf("the dump left %v", names)
	}
	if status == 0 && check == 0 && !isMeta && readFile(t, dump) != dumped {
		t.Error("a store without faults has another dump")
	}
	if err := pack(path, backup); err != nil {
		t.Fatal(err)
	}
	status, printed = runSpoilt(t, "waybookctl", "store", "restore", backup, "--data", restored)
	expect(status, printed)
	if names := launch.List(t, restored); status != check || len(names) != 1-status {
		t.Errorf("restore ended with %d and left %v", status, names)
	}
	p := launch.Begin(t, filepath.Join(binaries, "standalone"), nil, append(launch.FreePorts(data), "-demo=false")...)
	for end := time.Now().Add(spoiltTime); p.Alive() && !strings.Contains(p.Out(), "Ctrl-C ends it."); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("standalone still starts after %v", spoiltTime)
		}
	}
	if !p.Alive() {
		expect(p.Wait(), p.Printed())
		if names := launch.List(t, data); !slices.Equal(names, []string{"waybook.db"}) {
			t.Errorf("standalone left %v", names)
		}
		return
	}
	if created := (operator{t, p.Ready().GRPC}).run("", "user", "create", "x"); created.status != 0 && check == 0 {
		t.Errorf("standalone can't write: %s", created.err)
	}
	expect(p.End(syscall.SIGTERM), p.Printed())
	expectNoTrace(t, p.Printed())
}

// isDamage reports whether a text says that a store is damaged, or shorter than its meta page says.
func isDamage(text string) bool {
	return strings.Contains(text, "damage") || strings.Contains(text, "truncated")
}

func expectNoTrace(t *testing.T, printed string) {
	t.Helper()
	for _, trace := range []string{"goroutine ", "panic", "fatal error"} {
		if strings.Contains(printed, trace) {
			t.Errorf("it prints a stack trace:\n%.2000s", printed)
		}
	}
}

// runSpoilt runs a program to its end and returns its status and what it printed.
func runSpoilt(t *testing.T, program string, args ...string) (status int, printed string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), spoiltTime)
	defer cancel()
	// A program that takes more memory than the limit of the shell ends with a fatal error.
	line := append([]string{"-c", fmt.Sprintf(`ulimit -d %d; exec "$@"`, spoiltMiB<<10), "sh", filepath.Join(binaries, program)}, args...)
	command := exec.CommandContext(ctx, "sh", line...)
	output, _ := command.CombinedOutput() // ProcessState has the result
	if ctx.Err() != nil {
		t.Errorf("%v still runs after %v", args, spoiltTime)
	}
	expectNoTrace(t, string(output))
	return command.ProcessState.ExitCode(), string(output)
}
