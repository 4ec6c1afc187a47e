package programs_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/platform/process"
)

// analyze runs systemd-analyze in a directory and returns its output.
func analyze(t *testing.T, directory string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("SKIPPED: systemd-analyze is not installed, so the unit is not tested")
	}
	command := exec.CommandContext(t.Context(), "systemd-analyze", args...)
	command.Dir = directory
	output, err := command.CombinedOutput()
	return string(output), err
}

// unit writes the unit to a directory, with the path of a program that exists, and with the file
// for MongoDB if withMongoDB is set.
func unit(t *testing.T, withMongoDB bool, more ...string) (directory string) {
	t.Helper()
	directory = t.TempDir()
	write(t, directory, "waybook.service", replaced(t, example(t, "systemd/waybook.service"), "/usr/bin/waybook", binary)+strings.Join(more, "\n"))
	if withMongoDB {
		write(t, directory, "waybook.service.d/mongodb.conf", example(t, "systemd/mongodb.conf"))
	}
	return directory
}

func TestTheUnitIsValid(t *testing.T) {
	t.Parallel()
	for _, withMongoDB := range []bool{false, true} {
		output, err := analyze(t, unit(t, withMongoDB), "verify", "--man=no", "--recursive-errors=no", "./waybook.service")
		if err != nil || output != "" {
			t.Errorf("with MongoDB %t: %v\n%s", withMongoDB, err, output)
		}
	}
	directory := t.TempDir()
	write(t, directory, "waybook-backup.service", replaced(t, example(t, "systemd/waybook-backup.service"), "/usr/bin/waybookctl", binary))
	write(t, directory, "waybook-backup.timer", example(t, "systemd/waybook-backup.timer"))
	output, err := analyze(t, directory, "verify", "--man=no", "--recursive-errors=no", "./waybook-backup.service", "./waybook-backup.timer")
	if err != nil || output != "" {
		t.Errorf("backup: %v\n%s", err, output)
	}
	// A unit with mistakes must not pass.
	output, err = analyze(t, unit(t, false, "[Service]", "PrivateTemp=yes", ""), "verify", "--man=no", "--recursive-errors=no", "./waybook.service")
	if err == nil && output == "" {
		t.Error("systemd-analyze accepts an unknown key")
	}
}

func TestTheUnitIsExposedLessThan2(t *testing.T) {
	t.Parallel()
	const threshold = "--threshold=19" // 1.9 of 10
	for _, withMongoDB := range []bool{false, true} {
		output, err := analyze(t, unit(t, withMongoDB), "security", "--offline=true", threshold, "./waybook.service")
		if err != nil {
			t.Errorf("with MongoDB %t: %v\n%s", withMongoDB, err, output)
		}
		t.Log(output[max(0, strings.LastIndex(output, "→")):])
	}
	if _, err := analyze(t, unit(t, false, "[Service]", "CapabilityBoundingSet=~", "PrivateUsers=no", ""), "security", "--offline=true", threshold, "./waybook.service"); err == nil {
		t.Error("systemd-analyze accepts a unit with rights")
	}
}

// groups returns the system calls of groups of systemd's filters.
func groups(t *testing.T, names ...string) []string {
	t.Helper()
	var calls []string
	output, err := analyze(t, "", append([]string{"syscall-filter"}, names...)...)
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for line := range strings.Lines(output) {
		switch name := strings.TrimSpace(line); {
		case !strings.HasPrefix(line, " ") || strings.HasPrefix(name, "#"):
		case strings.HasPrefix(name, "@"):
			calls = append(calls, groups(t, name)...)
		default:
			calls = append(calls, name)
		}
	}
	return calls
}

// permitted returns the system calls that the unit's filter permits.
func permitted(t *testing.T) []string {
	t.Helper()
	var calls []string
	for line := range strings.Lines(example(t, "systemd/waybook.service")) {
		filter, ok := strings.CutPrefix(strings.TrimSpace(line), "SystemCallFilter=")
		if !ok {
			continue
		}
		refused, isRefusal := strings.CutPrefix(filter, "~")
		if !isRefusal {
			calls = append(calls, groups(t, strings.Fields(filter)...)...)
			continue
		}
		without := groups(t, strings.Fields(refused)...)
		calls = slices.DeleteFunc(calls, func(call string) bool { return slices.Contains(without, call) })
	}
	if len(calls) < 100 {
		t.Fatalf("the filter permits %v", calls)
	}
	return calls
}

// inspected are permitted system calls whose arguments the unit restricts.
var inspected = []string{"openat", "mkdirat", "unlinkat", "renameat", "renameat2", "mkdir", "unlink", "rename", "socket", "mmap", "mprotect"}

// traced runs standalone under strace, which records the system calls that the unit's filter
// refuses, and the inspected ones. It uses the program and stops it.
func traced(t *testing.T, use func(p *launch.Process)) (data string, lines []string) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("SKIPPED: strace is not installed, so no system call of the program is compared with the unit")
	}
	if output, err := exec.CommandContext(t.Context(), "strace", "-f", "-o", "/dev/null", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: strace cannot trace here, so no system call of the program is compared with the unit: %s", output)
	}
	var quiet []string
	for _, call := range permitted(t) {
		if !slices.Contains(inspected, call) {
			quiet = append(quiet, "?"+call)
		}
	}
	data, record := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	// With -D, the process that the test signals is the program and not strace.
	args := []string{"-D", "-f", "--seccomp-bpf", "-o", record, "-e", "trace=!" + strings.Join(quiet, ","), "-e", "signal=none", binary,
		"-config", filepath.Join(deploy, "systemd/waybook.yaml"), "-demo", "-console"}
	manager, path := listenAsManager(t)
	p := launch.Begin(t, "strace", []string{"NOTIFY_SOCKET=" + path}, append(args, "-http", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", data)...).Ready()
	expectState(t, manager, "READY=1")
	use(p)
	if status := p.End(syscall.SIGTERM); status != 0 {
		t.Errorf("status %d\n%s", status, p.Printed())
	}
	expectState(t, manager, "STOPPING=1")
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	return data, strings.Split(strings.TrimSpace(string(text)), "\n")
}

// listenAsManager listens as systemd does for a unit of Type=notify.
func listenAsManager(t *testing.T) (*net.UnixConn, string) {
	t.Helper()
	directory, err := os.MkdirTemp("", "manager") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	path := filepath.Join(directory, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket, path
}

func expectState(t *testing.T, manager *net.UnixConn, want string) {
	t.Helper()
	message := make([]byte, 1024)
	n, err := manager.Read(message)
	if got := string(message[:n]); err != nil || got != want {
		t.Errorf("the manager got %q, %v, want %q", got, err, want)
	}
}

// call is the first line of a system call in the output of strace.
var call = regexp.MustCompile(`^\d+ +(\w+)\((.*)`)

func TestTheProgramNeedsOnlyWhatTheUnitPermits(t *testing.T) {
	t.Parallel()
	data, lines := traced(t, func(p *launch.Process) {
		for _, path := range []string{"/", "/API.php?func=getCategoryPOIList&category=2", "/API.php?func=login&email=demo@waybook.example&password=x"} {
			if status, problem := probe(t, p.HTTP, path); status == 0 {
				t.Errorf("%s: %s", path, problem)
			}
		}
		for _, path := range []string{"/readyz", "/metrics"} {
			if status, _ := probe(t, p.Admin, path); status != http.StatusOK {
				t.Errorf("%s: status %d", path, status)
			}
		}
	})
	seen := map[string]int{}
	for _, line := range lines {
		parts := call.FindStringSubmatch(line)
		if parts == nil {
			continue // the rest of a call, or the end of a thread
		}
		name, arguments := parts[1], parts[2]
		if name == "execve" {
			continue // of the program itself, by strace
		}
		seen[name]++
		if fault := forbidden(name, arguments, data); fault != "" {
			t.Errorf("%s: %s", fault, line)
		}
	}
	for _, name := range []string{"openat", "socket", "mmap"} {
		if seen[name] == 0 {
			t.Errorf("no %s was recorded: %v", name, seen)
		}
	}
	t.Log(seen)
}

// forbidden reports why the unit refuses a call.
func forbidden(name, arguments, data string) string {
	writes := func(paths ...string) string {
		for _, path := range paths {
			isTemporary := strings.HasPrefix(path, filepath.Join(os.TempDir(), "waybook-upload-")) // PrivateTmp
			isBelow := !filepath.IsAbs(path) && !strings.Contains(arguments, "AT_FDCWD")           // an open directory
			if !strings.HasPrefix(path, data) && path != "/dev/null" && !isTemporary && !isBelow {
				return fmt.Sprintf("writes to %s", path)
			}
		}
		return ""
	}
	var paths []string
	for _, quoted := range regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(arguments, -1) {
		paths = append(paths, quoted[1])
	}
	switch {
	case !slices.Contains(inspected, name):
		return "the filter refuses it"
	case name == "openat" && !regexp.MustCompile(`O_WRONLY|O_RDWR|O_CREAT`).MatchString(arguments):
		return ""
	case name == "socket" && !regexp.MustCompile(`^AF_(UNIX|INET|INET6),`).MatchString(arguments):
		return "RestrictAddressFamilies refuses it"
	case name == "mmap" && strings.Contains(arguments, "PROT_WRITE|PROT_EXEC"), name == "mprotect" && strings.Contains(arguments, "PROT_EXEC"):
		return "MemoryDenyWriteExecute refuses it"
	case name == "socket", name == "mmap", name == "mprotect":
		return ""
	}
	return writes(paths...)
}

func TestTheExampleOfSettingsIsValid(t *testing.T) {
	t.Parallel()
	packaged := filepath.Join(t.TempDir(), "waybook") // as packages call it
	if err := os.Symlink(binary, packaged); err != nil {
		t.Fatal(err)
	}
	p := launch.Begin(t, packaged, nil, "-check", "-config", filepath.Join(deploy, "systemd/waybook.yaml"), "-data", t.TempDir())
	if status := p.Wait(); status != 0 || p.Printed() != "waybook: the settings are valid\n" {
		t.Errorf("status %d\n%s", status, p.Printed())
	}
}

func TestTheUnitWaitsAsLongAsAStopMayTake(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`(?m)^TimeoutStopSec=(\S+)$`).FindStringSubmatch(example(t, "systemd/waybook.service"))
	if found == nil {
		t.Fatal("the unit has no TimeoutStopSec")
	}
	if timeout, err := time.ParseDuration(found[1]); err != nil || timeout <= process.StopTimeout {
		t.Errorf("systemd kills the program after %s, %v; a stop may take %v", found[1], err, process.StopTimeout)
	}
}

func TestTheUnitRestartsAProgramUnlessItsSettingsAreInvalid(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`(?m)^RestartPreventExitStatus=(\d+)$`).FindStringSubmatch(example(t, "systemd/waybook.service"))
	if found == nil {
		t.Fatal("the unit has no RestartPreventExitStatus")
	}
	if settings, _, _ := strings.Cut(example(t, "systemd/waybook.service"), "[Service]"); !strings.Contains(settings, "\nStartLimitIntervalSec=0\n") {
		t.Error("systemd gives a unit up that fails five times within ten seconds")
	}
	// As if the disk could not give a page of the mapped store.
	faulty := launch.Start(t, binary, t.TempDir()).End(syscall.SIGBUS)
	if fmt.Sprint(faulty) == found[1] {
		t.Errorf("systemd does not restart a program that a fault of the runtime ended with status %d", faulty)
	}
	invalid := launch.Begin(t, binary, nil, "-demo=maybe").Wait()
	if fmt.Sprint(invalid) != found[1] {
		t.Errorf("systemd restarts a program with invalid settings, which ends with status %d", invalid)
	}
}

func TestBackupsNeedNoFileThatTheirPageDoesNotMake(t *testing.T) {
	t.Parallel()
	text := example(t, "systemd/waybook-backup.service")
	writable := regexp.MustCompile(`(?m)^ReadWritePaths=-(.*)$`).FindStringSubmatch(text)
	if writable == nil || !strings.Contains(text, " store backup "+writable[1]+" --keep ") || strings.Contains(text, "\nEnvironmentFile=") ||
		!strings.Contains(example(t, "../docs/one-machine.md"), "\n    install -d -m 0700 "+writable[1]+"\n") {
		t.Errorf("the unit may write to %q only", writable)
	}
}
