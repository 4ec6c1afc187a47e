// Package launch builds Waybook's programs and runs them for tests as separate processes.
package launch

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait for a process. It is not a measurement; it only ends a test that would
// hang.
const patience = time.Minute

// Process is a running program.
type Process struct {
	// HTTP, GRPC and Admin are addresses of the form host:port. GRPC may also be unix:PATH.
	HTTP, GRPC, Admin string
	// Curl are the printed example commands.
	Curl []string
	// Data is the directory given with -data.
	Data string

	t       testing.TB
	command *exec.Cmd
	out     *transcript
	errors  *transcript
	done    chan struct{}
}

// Begin starts the program without waiting until it is ready. The program does not inherit
// variables of the tester that Waybook would read. It is killed at the end of the test if it still
// runs.
func Begin(t testing.TB, binary string, environment []string, args ...string) *Process {
	t.Helper()
	p := &Process{
		t: t, command: exec.Command(binary, args...),
		out: newTranscript(), errors: newTranscript(), done: make(chan struct{}),
	}
	p.command.Stdout, p.command.Stderr = p.out, p.errors
	if i := slices.Index(args, "-data"); i >= 0 {
		p.Data = args[i+1]
	}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "WAYBOOK_") && !strings.HasPrefix(variable, "OTEL_") {
			p.command.Env = append(p.command.Env, variable)
		}
	}
	p.command.Env = append(p.command.Env, environment...)
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.command.Wait() // ProcessState has the result
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill() // fails if the program has ended, as it should
		<-p.done
	})
	return p
}

// FreePorts returns the flags that let the program choose its ports.
func FreePorts(data string) []string {
	return []string{"-http", "127.0.0.1:0", "-grpc", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", data}
}

// Start starts the program on free ports and waits until it is ready.
func Start(t testing.TB, binary, data string, args ...string) *Process {
	t.Helper()
	return Begin(t, binary, nil, append(FreePorts(data), args...)...).Ready()
}

// Ready waits until the process reports that it is ready, and parses its greeting.
func (p *Process) Ready() *Process {
	p.t.Helper()
	if !p.out.await(p.done, isGreeting) {
		p.t.Fatalf("the program is not ready.\n%s", p.Printed())
	}
	for line := range strings.Lines(p.out.String()) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, " ")
		switch value = strings.TrimSpace(value); name {
		case "edge":
			p.HTTP = p.hostOf(value)
		case "grpc":
			p.GRPC = value
		case "admin":
			p.Admin = p.hostOf(value)
		case "curl":
			p.Curl = append(p.Curl, line)
		}
	}
	return p
}

// isGreeting reports whether the greeting is complete.
func isGreeting(text string) bool {
	if strings.HasPrefix(text, "waybook ") { // a separate program, which prints this address last
		_, last, _ := strings.Cut(text, "  admin  ")
		return strings.HasSuffix(last, "\n")
	}
	return strings.Contains(text, "Waybook is ready.") && strings.HasSuffix(text, "Ctrl-C ends it.\n")
}

func (p *Process) hostOf(address string) string {
	p.t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	return parsed.Host
}

// AwaitLog waits until the standard error contains a text.
func (p *Process) AwaitLog(part string) {
	p.t.Helper()
	if !p.errors.await(p.done, func(text string) bool { return strings.Contains(text, part) }) {
		p.t.Fatalf("the program does not log %q.\n%s", part, p.Printed())
	}
}

// Signal sends a signal.
func (p *Process) Signal(signal os.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
}

// Wait waits for the end of the process and returns its exit status; -1 after an uncaught signal.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("the program does not end.\n%s", p.Printed())
	}
	return p.command.ProcessState.ExitCode()
}

// End sends a signal, waits for the end of the process and returns its exit status.
func (p *Process) End(signal os.Signal) int {
	p.t.Helper()
	p.Signal(signal)
	return p.Wait()
}

// Alive reports whether the process still runs.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// PID returns the process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Out returns the standard output so far.
func (p *Process) Out() string { return p.out.String() }

// Logged returns the standard error so far.
func (p *Process) Logged() string { return p.errors.String() }

// Printed returns the standard output and standard error so far.
func (p *Process) Printed() string { return p.out.String() + p.errors.String() }

// transcript is the output of a process so far. It is safe for concurrent use.
type transcript struct {
	mu   sync.Mutex
	text []byte
	// grown is closed and replaced whenever text grows.
	grown chan struct{}
}

func newTranscript() *transcript { return &transcript{grown: make(chan struct{})} }

// Write appends to the transcript.
func (t *transcript) Write(more []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, more...)
	close(t.grown)
	t.grown = make(chan struct{})
	return len(more), nil
}

// String returns the whole output so far.
func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// await waits until isWanted accepts the text. It reports false if done is closed or patience has
// passed first.
func (t *transcript) await(done <-chan struct{}, isWanted func(string) bool) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		t.mu.Lock()
		text, grown := string(t.text), t.grown
		t.mu.Unlock()
		if isWanted(text) {
			return true
		}
		select {
		case <-grown:
		case <-done:
			return isWanted(t.String())
		case <-limit.C:
			return false
		}
	}
}

// Main runs the tests of a package and returns the exit status. prepare builds the programs in a
// directory, which exists until the tests have ended. A goroutine that is left then is a failure.
//
// Tests wait for programs longer than they compute. So four times as many as there are processors run at a
// time, unless -parallel is given. Their heaps are small, and are collected a quarter as often as usual.
func Main(m *testing.M, prepare func(directory string) error) (status int) {
	debug.SetGCPercent(400)
	directory, err := os.MkdirTemp("", "waybook-test")
	if err == nil {
		err = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0)))
	}
	if err == nil {
		err = prepare(directory)
	}
	if err == nil {
		if status = m.Run(); status == 0 {
			err = goleak.Find()
		}
	}
	if err = errors.Join(err, os.RemoveAll(directory)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// List returns the names in a directory.
func List(t testing.TB, directory string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
