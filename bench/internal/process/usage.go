package process

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticksPerSecond is the unit of times in /proc/<pid>/stat, the same on every Linux.
const ticksPerSecond = 100

// Usage is the resources that a process has used since its start.
type Usage struct {
	CPU time.Duration
	// Allocations and AllocatedBytes count allocations on Go's heap.
	Allocations, AllocatedBytes float64
}

// Minus returns the usage since an earlier measurement.
func (u Usage) Minus(earlier Usage) Usage {
	return Usage{u.CPU - earlier.CPU, u.Allocations - earlier.Allocations, u.AllocatedBytes - earlier.AllocatedBytes}
}

// Plus adds the usage of another process.
func (u Usage) Plus(other Usage) Usage {
	return Usage{u.CPU + other.CPU, u.Allocations + other.Allocations, u.AllocatedBytes + other.AllocatedBytes}
}

// Usage returns the usage of the process, from the kernel and the process's metrics.
func (p *Process) Usage() (Usage, error) {
	// Reading the metrics costs the process CPU time too. It precedes the reading of the CPU
	// time, so a measurement includes only the one at its end.
	allocations, bytes, err := p.allocations()
	if err != nil {
		return Usage{}, err
	}
	cpu, err := p.CPU()
	return Usage{cpu, allocations, bytes}, err
}

// CPU returns the CPU time of the process, to within 10 ms.
func (p *Process) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, err
	}
	// The second field is the name in parentheses, which may contain spaces.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, fmt.Errorf("no CPU time in %s", stat)
	}
	var ticks int64
	for _, field := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// OwnCPU returns the CPU time of this process, which is the load generator.
func OwnCPU() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, err
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}

// Memory is the resident memory of a process, in MiB. File are pages of its program and its
// store, which the kernel can reclaim. Own is the rest. Peak is the maximum of the total.
type Memory struct{ Own, File, Peak float64 }

// All returns the total resident memory.
func (m Memory) All() float64 { return m.Own + m.File }

// Memory returns the current memory of the process.
func (p *Process) Memory() (Memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
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
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0)
}

// allocations reads the numbers from the metrics on the admin port.
func (p *Process) allocations() (count, bytes float64, err error) {
	response, err := http.Get("http://" + p.Addresses["admin"] + "/metrics")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case "go_memstats_mallocs_total":
			count, err = strconv.ParseFloat(value, 64)
		case "go_memstats_alloc_bytes_total":
			bytes, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return count, bytes, lines.Err()
}
