// Package process runs each measured program as a process of its own. It reads the
// resources that the process uses from the kernel and from the process's metrics. It needs
// Linux.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	errors  *os.File
	ready   chan struct{}
	done    chan struct{}
}

// Build builds the programs of the given packages into a directory. It runs in the source tree at
// tree, or in the current directory if tree is empty.
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
	p := &Process{
		Addresses: map[string]string{}, name: filepath.Base(binary),
		command: exec.Command(binary, args...), ready: make(chan struct{}), done: make(chan struct{}),
	}
	inherited := slices.DeleteFunc(os.Environ(),
		func(variable string) bool { return strings.HasPrefix(variable, "WAYBOOK_") })
	p.command.Env = append(inherited, environment...)
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.errors, err = os.CreateTemp("", "waybook-bench-log"); err != nil {
		return nil, err
	}
	p.command.Stderr = p.errors
	if err := p.command.Start(); err != nil {
		return nil, errors.Join(err, p.forget())
	}
	go p.read(bufio.NewScanner(out))
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

// Used is what some work used.
type Used struct {
	// CPU is the CPU time of all processes, Front that of the first of them, and Client that of
	// this process, which is the load generator.
	CPU, Front, Client time.Duration
	// Allocations and AllocatedBytes count allocations on Go's heap.
	Allocations, AllocatedBytes float64
}

// Measure returns what processes use during some work.
func Measure(processes []*Process, work func() error) (Used, error) {
	before, err := usedBy(processes)
	if err != nil {
		return Used{}, err
	}
	if err := work(); err != nil {
		return Used{}, err
	}
	after, err := usedBy(processes)
	return Used{
		after.CPU - before.CPU, after.Front - before.Front, after.Client - before.Client,
		after.Allocations - before.Allocations, after.AllocatedBytes - before.AllocatedBytes,
	}, err
}

// usedBy returns what processes have used since their start.
func usedBy(processes []*Process) (all Used, err error) {
	for i, p := range processes {
		one, err := p.used()
		if err != nil {
			return all, err
		}
		all.CPU, all.Allocations, all.AllocatedBytes = all.CPU+one.CPU, all.Allocations+
			one.Allocations, all.AllocatedBytes+one.AllocatedBytes
		if i == 0 {
			all.Front = one.CPU
		}
	}
	var own syscall.Rusage
	err = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	all.Client = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	return all, err
}

// used reads what the process has used from its metrics. The CPU time is exact to within 10 ms.
func (p *Process) used() (Used, error) {
	response, err := http.Get("http://" + p.Addresses["admin"] + "/metrics")
	if err != nil {
		return Used{}, err
	}
	text, err := io.ReadAll(response.Body)
	metrics := numbers(text)
	return Used{
		CPU:         time.Duration(metrics["process_cpu_seconds_total"] * float64(time.Second)),
		Allocations: metrics["go_memstats_mallocs_total"], AllocatedBytes: metrics["go_memstats_alloc_bytes_total"],
	}, errors.Join(err, response.Body.Close())
}

// proc returns the numbers in a file of the process below /proc.
func (p *Process) proc(file string) (map[string]float64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.command.Process.Pid), file))
	return numbers(text), err
}

// numbers returns the numbers of a text by the names before them. Each is the second word of a
// line.
func numbers(text []byte) map[string]float64 {
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 {
			if number, err := strconv.ParseFloat(words[1], 64); err == nil {
				values[strings.TrimSuffix(words[0], ":")] = number
			}
		}
	}
	return values
}

// Memory returns the resident memory of the process, in MiB. own excludes pages of its program and
// its store, which the kernel can reclaim.
func (p *Process) Memory() (own, all float64, err error) {
	kib, err := p.proc("status")
	return kib["RssAnon"] / 1024, kib["VmRSS"] / 1024, err
}

// Written returns the number of bytes that the process has written to a disk since its start, and
// the number of its calls to write to files and sockets.
func (p *Process) Written() (bytes, calls float64, err error) {
	counts, err := p.proc("io")
	return counts["write_bytes"], counts["syscw"], err
}
