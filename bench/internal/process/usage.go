package process

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

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

// ForgetPeak resets the peak of the memory.
func (p *Process) ForgetPeak() error {
	return os.WriteFile(p.proc("clear_refs"), []byte("5"), 0)
}
