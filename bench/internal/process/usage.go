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
func usedBy(processes []*Process) (u Used, err error) {
	for i, p := range processes {
		// Reading the metrics costs the process CPU time too. It precedes the reading of the CPU
		// time, so a measurement includes only the one at its end.
		allocations, bytes, err := p.allocations()
		if err != nil {
			return u, err
		}
		cpu, err := p.cpu()
		if err != nil {
			return u, err
		}
		u.CPU, u.Allocations, u.AllocatedBytes = u.CPU+cpu, u.Allocations+allocations, u.AllocatedBytes+bytes
		if i == 0 {
			u.Front = cpu
		}
	}
	var own syscall.Rusage
	err = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	u.Client = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	return u, err
}

// cpu returns the CPU time of the process, to within 10 ms.
func (p *Process) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(p.proc("stat"))
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
