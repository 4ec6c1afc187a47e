// Package launch builds Waybook's programs and runs them for tests, as processes of
// their own.
package launch

import (
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long a process may take for anything at all. It is no
// measurement: it only ends a test that would hang.
const patience = time.Minute

// Process is a running program.
type Process struct {
	// HTTP, GRPC and Admin are host and port.
	HTTP, GRPC, Admin string
	// Curl are the lines that it printed to be pasted.
	Curl []string
	// Data is the directory given with -data.
	Data string

	t       testing.TB
	command *exec.Cmd
	out     *transcript
	errors  *transcript
	done    chan struct{}
}

// Begin starts the program and does not wait until it is ready. Variables of the
// tester's own environment that Waybook would read are kept from it. It is killed
// at the test's end if it still runs.
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
		_ = p.command.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		_ = p.command.Process.Kill() // fails when it has ended, as it should
		<-p.done
	})
	return p
}

// FreePorts are the flags that let the program pick its ports.
func FreePorts(data string) []string {
	return []string{"-http", "127.0.0.1:0", "-grpc", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", data}
}

// Start starts the program on free ports and waits until it is ready.
func Start(t testing.TB, binary, data string, args ...string) *Process {
	t.Helper()
	return Begin(t, binary, nil, append(FreePorts(data), args...)...).Ready()
}

// Ready waits until the process says that it is ready, and reads what it printed.
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

// isGreeting reports whether all of the greeting has been printed.
func isGreeting(text string) bool {
	if strings.HasPrefix(text, "waybook ") { // one of the separate programs, which prints this address last
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

// Signal sends a signal.
func (p *Process) Signal(signal os.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
}

// Wait waits for the end and returns the exit status, -1 after a signal that was
// not caught.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("the program does not end.\n%s", p.Printed())
	}
	return p.command.ProcessState.ExitCode()
}

// End sends a signal and waits for the end, whose exit status it returns.
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

// PID is the process's id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Out is what the process printed to its user, so far.
func (p *Process) Out() string { return p.out.String() }

// Logged is what the process wrote to standard error, so far.
func (p *Process) Logged() string { return p.errors.String() }

// Printed is all that it printed, so far.
func (p *Process) Printed() string { return p.out.String() + p.errors.String() }
