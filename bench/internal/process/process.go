// Package process runs each measured program as a process of its own. It reads the
// resources that the process uses from the kernel and from the process's metrics. It needs
// Linux.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is the timeout for the start and the end of a program.
const patience = time.Minute

// Process is a running program.
type Process struct {
	// Addresses are the addresses (host:port) on which it listens, by the names in its
	// output: edge, grpc, http, admin.
	Addresses map[string]string

	name    string
	command *exec.Cmd
	// isForeign is true for a program without Waybook's metrics.
	isForeign bool
	errors    *os.File
	ready     chan struct{}
	done      chan struct{}
}

// Build builds the programs of the given packages into a directory. It runs in the source tree at tree, or in
// the current directory if tree is empty.
func Build(ctx context.Context, tree, directory string, packages ...string) error {
	args := append([]string{"build", "-o", directory + string(filepath.Separator)}, packages...)
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = tree
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %v: %w\n%s", packages, err, output)
	}
	return nil
}

// Start starts a program and waits until it has printed its addresses. The program gets the given
// environment variables and those of this process, except WAYBOOK_ variables.
func Start(binary string, environment []string, args ...string) (*Process, error) {
	p, err := prepared(binary, args)
	if err != nil {
		return nil, err
	}
	inherited := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "WAYBOOK_") })
	p.command.Env = append(inherited, environment...)
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, p.forget())
	}
	return p.started(func() { p.read(bufio.NewScanner(out)) })
}

// StartForeign starts a program that is not one of Waybook, and waits until it accepts connections at an
// address of a network. What the program uses counts with what its descendants use.
func StartForeign(network, address, binary string, args ...string) (*Process, error) {
	p, err := prepared(binary, args)
	if err != nil {
		return nil, err
	}
	p.command.Stdout, p.isForeign = p.errors, true
	return p.started(func() {
		go p.await(network, address)
		_ = p.command.Wait() // ProcessState has the result
		close(p.done)
	})
}

// prepared returns a process to start, whose log goes to a file.
func prepared(binary string, args []string) (*Process, error) {
	p := &Process{
		Addresses: map[string]string{}, name: filepath.Base(binary),
		command: exec.Command(binary, args...), ready: make(chan struct{}), done: make(chan struct{}),
	}
	var err error
	if p.errors, err = os.CreateTemp("", "waybook-bench-log"); err != nil {
		return nil, err
	}
	p.command.Stderr = p.errors
	return p, nil
}

// started starts the process, and waits until attend, which runs until the process ends, closes ready.
func (p *Process) started(attend func()) (*Process, error) {
	err := p.command.Start()
	if err != nil {
		return nil, errors.Join(err, p.forget())
	}
	go attend()
	select {
	case <-p.ready:
		return p, nil
	case <-p.done:
		err = errors.New("the program exited before it was ready")
	case <-time.After(patience):
		err = fmt.Errorf("the program was not ready after %v", patience)
	}
	return nil, errors.Join(fmt.Errorf("%s: %w\n%s", p.name, err, p.printed()), p.Stop())
}

// await closes ready as soon as the process accepts a connection.
func (p *Process) await(network, address string) {
	for {
		if connection, err := net.Dial(network, address); err == nil {
			_ = connection.Close() // nothing was sent
			close(p.ready)
			return
		}
		select {
		case <-p.done:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// read parses the output of the program until the program ends.
func (p *Process) read(lines *bufio.Scanner) {
	defer close(p.done)
	for isReady := false; lines.Scan(); {
		words := strings.Fields(lines.Text())
		if isReady || len(words) != 2 {
			continue
		}
		p.Addresses[words[0]] = strings.TrimSuffix(strings.TrimPrefix(words[1], "http://"), "/API.php")
		if isReady = words[0] == "admin"; isReady { // the last address
			close(p.ready)
		}
	}
	_ = p.command.Wait() // ProcessState has the result
}

// printed returns the log output of the program.
func (p *Process) printed() []byte {
	text, err := os.ReadFile(p.errors.Name())
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// proc returns the path of a file of the process below /proc.
func (p *Process) proc(file string) string {
	return filepath.Join("/proc", strconv.Itoa(p.command.Process.Pid), file)
}

// Stop ends the process with SIGTERM, or kills it if it has not exited after patience.
func (p *Process) Stop() error {
	_ = p.command.Process.Signal(syscall.SIGTERM) // fails if the process has already exited
	var err error
	select {
	case <-p.done:
	case <-time.After(patience):
		err = errors.Join(fmt.Errorf("%s did not exit %v after SIGTERM", p.name, patience), p.command.Process.Kill())
		<-p.done
	}
	if status := p.command.ProcessState.ExitCode(); status != 0 && err == nil {
		err = fmt.Errorf("%s exited with status %d\n%s", p.name, status, p.printed())
	}
	return errors.Join(err, p.forget())
}

// forget removes the log file of the process.
func (p *Process) forget() error {
	return errors.Join(p.errors.Close(), os.Remove(p.errors.Name()))
}
