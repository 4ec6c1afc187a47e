package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/waybook/waybook/bench/internal/report"
)

// describeMachine prints the facts on which the figures depend.
func describeMachine(ctx context.Context, out io.Writer, s Settings) {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	fmt.Fprintf(out, "%s, commit %s, %s, %d cores (%s), Linux %s, load average %s at the start; %d rounds of %s\n",
		time.Now().Format(time.DateOnly), strings.TrimSpace(string(commit)), runtime.Version(), runtime.NumCPU(),
		firstLine("/proc/cpuinfo", "model name"), firstLine("/proc/sys/kernel/osrelease", ""), firstLine("/proc/loadavg", ""),
		s.Rounds, s.Duration)
}

// stillness is the time during which the machine did not run its cores.
type stillness struct {
	// share is the fraction of all cores' time, from 0 to 1. longest is the longest stop.
	share   float64
	longest time.Duration
}

// String returns a sentence about the stillness.
func (s stillness) String() string {
	return fmt.Sprintf("Right after the measurement, all cores were kept busy for a moment. Other load on the machine or its host "+
		"stopped them for %s %% of the time, for at most %s ms at once (stops up to %s ms do not count).",
		report.Number(100*s.share), report.Number(millis(s.longest)), report.Number(millis(shortStop)))
}

// shortStop is the length of stops that are ignored, such as interrupts.
const shortStop = 200 * time.Microsecond

// standstill keeps each core busy for a while and measures how long it was stopped. The
// statistics of a virtual machine do not show when the host takes away its cores.
func standstill(duration time.Duration) (s stillness) {
	cores := runtime.GOMAXPROCS(0)
	found := make([]stillness, cores)
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began := time.Now()
			for last := began; last.Sub(began) < duration; {
				now := time.Now()
				if stop := now.Sub(last); stop > shortStop {
					found[i].share += float64(stop) / float64(duration)
					found[i].longest = max(found[i].longest, stop)
				}
				last = now
			}
		})
	}
	group.Wait()
	for _, each := range found {
		s.share += each.share / float64(cores)
		s.longest = max(s.longest, each.longest)
	}
	return s
}

// firstLine returns the first line of a file that starts with prefix, without the prefix.
func firstLine(path, prefix string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, "\t :"))
		}
	}
	return "unknown"
}
