// Package process runs the programs that are measured, each as a process of its own,
// and reads from the kernel and from its metrics what it costs. That needs Linux.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// patience is how long a program may take to start and to end. It is no measurement.
const patience = time.Minute

// Process is a running program.
type Process struct {
	// Addresses are host and port of where it listens, by what it calls them: edge,
	// grpc, http, admin.
	Addresses map[string]string

	name    string
	command *exec.Cmd
	errors  *os.File
	ready   chan struct{}
	done    chan struct{}
}

// Build builds the programs of some packages into a directory.
func Build(ctx context.Context, directory string, packages ...string) error {
	args := append([]string{"build", "-o", directory + string(filepath.Separator)}, packages...)
	if output, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, output)
	}
	return nil
}

// Begin starts a program and does not wait until it is ready. It gets no WAYBOOK_
// variables but those given.
func Begin(binary string, environment []string, args ...string) (*Process, error) {
	p := &Process{
		Addresses: map[string]string{}, name: filepath.Base(binary),
		command: exec.Command(binary, args...), ready: make(chan struct{}), done: make(chan struct{}),
	}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "WAYBOOK_") {
			p.command.Env = append(p.command.Env, variable)
		}
	}
	p.command.Env = append(p.command.Env, environment...)
	var err error
	if p.errors, err = os.CreateTemp("", "waybook-bench-log"); err != nil {
		return nil, err
	}
	p.command.Stderr = p.errors
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, p.forget())
	}
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, p.forget())
	}
	go p.read(bufio.NewScanner(out))
	return p, nil
}

// Start starts a program and waits until it says where it listens.
func Start(binary string, environment []string, args ...string) (*Process, error) {
	p, err := Begin(binary, environment, args...)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.ready:
		return p, nil
	case <-p.done:
		err = errors.New("it ended")
	case <-time.After(patience):
		err = errors.New("it is not ready")
	}
	return nil, errors.Join(fmt.Errorf("%s: %w\n%s", p.name, err, p.printed()), p.Stop())
}

// read reads what the program prints, until its end.
func (p *Process) read(lines *bufio.Scanner) {
	defer close(p.done)
	for isReady := false; lines.Scan(); {
		words := strings.Fields(lines.Text())
		if isReady || len(words) != 2 {
			continue
		}
		p.Addresses[words[0]] = strings.TrimSuffix(strings.TrimPrefix(words[1], "http://"), "/API.php")
		if isReady = words[0] == "admin"; isReady { // it comes last
			close(p.ready)
		}
	}
	_ = p.command.Wait() // how it ended is in ProcessState
}

// printed is what the program wrote to its log.
func (p *Process) printed() []byte {
	text, err := os.ReadFile(p.errors.Name())
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// PID is the process's id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Stop ends the process as an operator does, or kills it when that takes too long.
func (p *Process) Stop() error {
	_ = p.command.Process.Signal(syscall.SIGTERM) // fails when it has ended
	var err error
	select {
	case <-p.done:
	case <-time.After(patience):
		err = errors.Join(fmt.Errorf("%s does not end", p.name), p.command.Process.Kill())
		<-p.done
	}
	if status := p.command.ProcessState.ExitCode(); status != 0 && err == nil {
		err = fmt.Errorf("%s ended with status %d\n%s", p.name, status, p.printed())
	}
	return errors.Join(err, p.forget())
}

// forget removes what the process wrote to its log.
func (p *Process) forget() error {
	return errors.Join(p.errors.Close(), os.Remove(p.errors.Name()))
}
