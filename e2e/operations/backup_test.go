package operations_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// progressLine is the last progress report of a command.
var progressLine = regexp.MustCompile(`(?m)^\w+: 0 documents in .*\n`)

func TestATruncatedStoreIsOneLineInEveryProgram(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	on := operator{t, "127.0.0.1:1"}
	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), data)
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	file := filepath.Join(data, "waybook.db")
	if err := os.Truncate(file, 50_000); err != nil {
		t.Fatal(err)
	}
	expect := func(what, printed string) {
		t.Helper()
		for _, part := range []string{file, "50000 bytes", "meta page says", "restore a backup"} {
			if !strings.Contains(printed, part) {
				t.Errorf("%s: no %q in %s", what, part, printed)
			}
		}
		printed = progressLine.ReplaceAllString(printed, "")
		if lines := strings.Count(printed, "\n"); lines != 1 {
			t.Errorf("%s prints %d lines:\n%s", what, lines, printed)
		}
	}
	for _, args := range [][]string{
		{"store", "check"}, {"store", "check", "--fix"}, {"store", "dump", filepath.Join(t.TempDir(), "dump")}, {"store", "prepare"}, {"store", "compact"},
	} {
		expect(strings.Join(args, " "), on.run("", append(args, "--data", data)...).expect(1).err)
	}
	refused := launch.Begin(t, filepath.Join(binaries, "standalone"), nil, launch.FreePorts(data)...)
	if status := refused.Wait(); status != 1 {
		t.Errorf("standalone ended with %d", status)
	}
	expect("standalone", refused.Logged())
}

func TestACompactionReportsWhatItReturns(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	on := operator{t, "127.0.0.1:1"}
	on.run("", "store", "compact", "--data", data).expect(3, "no embedded store")
	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), data)
	on.run("", "store", "compact", "--data", data).expect(1, "stop it first")
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	var done struct {
		Before int64 `json:"bytes_before"`
		After  int64 `json:"bytes_after"`
	}
	on.mustRead(&done, "store", "compact", "--data", data)
	info, err := os.Stat(filepath.Join(data, "waybook.db"))
	if err != nil || done.After != info.Size() || done.Before < done.After {
		t.Errorf("reported %+v; the file is %v (%v)", done, info.Size(), err)
	}
	if told := on.must("store", "compact", "--data", data); !strings.Contains(told, "MiB and now has") {
		t.Errorf("compact printed %q", told)
	}
	if told := on.must("store", "check", "--data", data); !strings.HasSuffix(told, "The store is clean.\n") || strings.Contains(told, "compact") {
		t.Errorf("check printed:\n%s", told)
	}
	launch.Start(t, filepath.Join(binaries, "standalone"), data)
}
