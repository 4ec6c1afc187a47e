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

// Used is what some work used.
type Used struct {
	// CPU is the CPU time of all processes, Front that of the first of them, and Client that of this
	// process, which is the load generator.
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
		all.CPU, all.Allocations, all.AllocatedBytes = all.CPU+one.CPU, all.Allocations+one.Allocations, all.AllocatedBytes+one.AllocatedBytes
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
func (p *Process) used() (u Used, err error) {
	if p.isForeign {
		u.CPU, err = treeCPU(p.command.Process.Pid)
		return u, err
	}
	response, err := http.Get("http://" + p.Addresses["admin"] + "/metrics")
	if err != nil {
		return u, err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for err == nil && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case "process_cpu_seconds_total":
			var seconds float64
			seconds, err = strconv.ParseFloat(value, 64)
			u.CPU = time.Duration(seconds * float64(time.Second))
		case "go_memstats_mallocs_total":
			u.Allocations, err = strconv.ParseFloat(value, 64)
		case "go_memstats_alloc_bytes_total":
			u.AllocatedBytes, err = strconv.ParseFloat(value, 64)
		}
	}
	return u, errors.Join(err, lines.Err())
}

// tick is the unit of the CPU times below /proc.
const tick = 10 * time.Millisecond

// treeCPU returns the CPU time of a process and its descendants, including those that have ended. It is exact
// to within a tick for each of them.
func treeCPU(root int) (all time.Duration, err error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	children, times := map[int][]int{}, map[int]time.Duration{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended, and its parent has its time
		}
		pid, parent, cpu, err := parseStat(string(text))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		children[parent], times[pid] = append(children[parent], pid), cpu
	}
	if _, ok := times[root]; !ok {
		return 0, fmt.Errorf("process %d has ended", root)
	}
	for tree := []int{root}; len(tree) > 0; tree = tree[1:] {
		all += times[tree[0]]
		tree = append(tree, children[tree[0]]...)
	}
	return all, nil
}

// parseStat parses /proc/PID/stat. cpu includes that of children that have ended and were waited for.
func parseStat(text string) (pid, parent int, cpu time.Duration, err error) {
	// The name, in parentheses, may contain anything.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return 0, 0, 0, fmt.Errorf("%q has too few fields", text)
	}
	first, _, _ := strings.Cut(text, " ")
	pid, err = strconv.Atoi(first)
	parent, failed := strconv.Atoi(fields[1])
	err = errors.Join(err, failed)
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		ticks, failed := strconv.ParseInt(field, 10, 64)
		err = errors.Join(err, failed)
		cpu += time.Duration(ticks) * tick
	}
	return pid, parent, cpu, err
}

// Memory is the resident memory of a process, in MiB. File are pages of its program and its
// store, which the kernel can reclaim. Own is the rest. Peak is the maximum of the total.
type Memory struct{ Own, File, Peak float64 }

// All returns the total resident memory.
func (m Memory) All() float64 { return m.Own + m.File }

// Memory returns the current memory of the process.
func (p *Process) Memory() (Memory, error) {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return Memory{}, err
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "kB" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return Memory{}, err
			}
			values[fields[0]] = kib / 1024
		}
	}
	return Memory{values["RssAnon:"], values["RssFile:"] + values["RssShmem:"], values["VmHWM:"]}, nil
}

// Written is what a process has written to files and sockets so far. Bytes are those that go to a disk.
type Written struct{ Bytes, Calls int64 }

// Written returns what the process has written since its start.
func (p *Process) Written() (w Written, err error) {
	text, err := os.ReadFile(p.proc("io"))
	if err != nil {
		return w, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return w, err
		}
		switch name {
		case "syscw":
			w.Calls = number
		case "write_bytes":
			w.Bytes = number
		}
	}
	return w, nil
}

// ForgetPeak resets the peak of the memory.
func (p *Process) ForgetPeak() error {
	return os.WriteFile(p.proc("clear_refs"), []byte("5"), 0)
}
