package moving_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/olddata"
	"github.com/waybook/waybook/internal/content/owned"
	"github.com/waybook/waybook/internal/docstore"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/waybookctl/cli"
	"github.com/waybook/waybook/waybookctl/storekeeping/dumpfile"
)

// ran is what a command of waybookctl printed, and its exit status.
type ran struct {
	out, notes string
	status     int
}

// waybookctl makes a command.
func waybookctl(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(binaries, "waybookctl"), args...)
	command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	return command
}

// run runs a command of waybookctl: in the process of the test, or, to measure it, in its own.
func run(t *testing.T, args ...string) ran {
	t.Helper()
	var out, notes bytes.Buffer
	if !isLong() {
		status := cli.Run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &notes}, func(string) (string, bool) { return "", false })
		return ran{out.String(), notes.String(), status}
	}
	command := waybookctl(t, args...)
	command.Stdout, command.Stderr = &out, &notes
	began := time.Now()
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	usage, isUsage := command.ProcessState.SysUsage().(*syscall.Rusage)
	if isUsage {
		t.Logf("%s: %v, %d MiB", strings.Join(args[:2], " "), time.Since(began).Round(time.Millisecond), usage.Maxrss>>10)
	}
	return ran{out.String(), notes.String(), command.ProcessState.ExitCode()}
}

// succeed runs a command that must succeed.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	done := run(t, args...)
	if done.status != 0 {
		t.Fatalf("%s: exit status %d\n%s%s", strings.Join(args, " "), done.status, done.out, done.notes)
	}
	return done.out
}

// oldService is the data of an old service, in files.
type oldService struct {
	options olddata.Options
	files   []string
}

// allowances are the flags that the files need.
var allowances = []string{"--allow", olddata.Allowances}

// newOldService writes the files. With WAYBOOK_MOVE=1 they have the sizes of a service that ran for
// years, and with another number that part of them.
func newOldService(t *testing.T, edition int) oldService {
	t.Helper()
	options := olddata.Defaults()
	if part, err := strconv.Atoi(os.Getenv("WAYBOOK_MOVE")); err == nil && part > 0 {
		options = options.Divided(part)
	} else {
		options = options.Divided(800)
		options.Flaws = 20
	}
	options.Edition = edition
	files, err := olddata.Write(t.TempDir(), []string{"gz", "zst"}[edition%2], options)
	if err != nil {
		t.Fatal(err)
	}
	return oldService{options, files}
}

func isLong() bool { return os.Getenv("WAYBOOK_MOVE") != "" }

// importInto returns the arguments of an import.
func (o oldService) importInto(at *launch.Process, journal string, more ...string) []string {
	return slices.Concat([]string{"move", "import", "--address", socket(at), "--journal", journal}, allowances, more, o.files)
}

// startOn starts standalone without demo content on a store.
func startOn(t *testing.T, data string, more ...string) *launch.Process {
	t.Helper()
	return launch.Start(t, filepath.Join(binaries, "standalone"), data, append(more, "-demo=false", "-grpc=")...)
}

// dump stops a program, and returns a file with all documents of its store.
func dump(t *testing.T, at *launch.Process, data string) (file string) {
	t.Helper()
	if status := at.End(os.Interrupt); status != 0 {
		t.Fatalf("standalone ended with status %d", status)
	}
	file = filepath.Join(t.TempDir(), "dump")
	succeed(t, "store", "dump", "--data", data, file)
	return file
}

// visit reads the documents of a dump. Each has its collection, and its fields in the order of their
// names: an entry that comes before the one that it quotes is written twice, which adds a field at
// the end. It lacks when a session was last used, which begins with the import, and how often it and
// its content were written.
func visit(t *testing.T, file string, each func(n int, document string)) {
	t.Helper()
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	n := 0
	if _, err := dumpfile.Read(t.Context(), opened, func(batch dumpfile.Batch) error {
		for _, document := range batch.Documents {
			elements, err := document.Elements()
			if err != nil {
				return err
			}
			fields := []string{batch.Collection}
			for _, element := range elements {
				if name := element.Key(); name != "used_millis" && name != docstore.RevisionField && name != owned.ContentRevision {
					fields = append(fields, string(element))
				}
			}
			slices.SortFunc(fields[1:], func(a, b string) int { return strings.Compare(a[1:], b[1:]) })
			each(n, strings.Join(fields, "\x00"))
			n++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// expectSame compares two dumps, and shows the first difference.
func expectSame(t *testing.T, want, got string) {
	t.Helper()
	var sums [][sha256.Size]byte
	visit(t, want, func(_ int, document string) { sums = append(sums, sha256.Sum256([]byte(document))) })
	count, differs, shown := 0, -1, ""
	visit(t, got, func(n int, document string) {
		if count++; differs < 0 && (n >= len(sums) || sha256.Sum256([]byte(document)) != sums[n]) {
			differs, shown = n, document
		}
	})
	if differs < 0 && count < len(sums) {
		differs = count
	}
	if differs < 0 {
		return
	}
	t.Errorf("%d documents became %d; the first that differs:\n%q", len(sums), count, shown)
	visit(t, want, func(n int, document string) {
		if n == differs {
			t.Errorf("instead of:\n%q", document)
		}
	})
}

// journalled returns how many buckets a journal says are finished.
func journalled(journal string) int {
	text, err := os.ReadFile(filepath.Join(journal, "journal"))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}

// kills is how many times an import is killed.
func kills() int {
	if isLong() {
		return 10
	}
	return 4
}

func TestAnImportThatIsKilledEndsInTheSameStore(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	old, data := newOldService(t, 1), t.TempDir()
	want := straight(t)
	journal, random := filepath.Join(t.TempDir(), "journal"), rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	waybook, killed := startOn(t, data), 0
	const buckets = 320
	for n := range kills() {
		// The journal grows from run to run; each one ends somewhere in the next stretch of it.
		until := n*buckets/kills() + random.IntN(buckets/kills())
		command := waybookctl(t, old.importInto(waybook, journal, "--workers", "2")...)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		isEnded := false
		for !isEnded && journalled(journal) < until {
			select {
			case err := <-ended:
				isEnded = true
				t.Logf("the import ended before it was killed: %v", err)
			case <-time.After(time.Millisecond):
			}
		}
		if isEnded {
			break
		}
		if err := command.Process.Kill(); err == nil {
			killed++
		}
		<-ended
		if n%2 == 1 {
			waybook.End(os.Kill)
			waybook = startOn(t, data)
		}
	}
	if killed < kills()-1 {
		t.Errorf("the import was killed %d times", killed)
	}
	succeed(t, old.importInto(waybook, journal)...)
	if _, err := os.Stat(journal); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
	// Without a journal, everything is sent once more.
	again := succeed(t, old.importInto(waybook, journal)...)
	for line := range strings.Lines(again) {
		if fields := strings.Fields(line); fields[0] != "KIND" && (fields[1] != "0" || fields[2] != "0" || fields[4] != "0") {
			t.Errorf("a second import changes something: %s", line)
		}
	}
	expectSame(t, want, dump(t, waybook, data))
}
