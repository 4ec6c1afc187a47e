package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// describeMachine prints what the figures depend on.
func describeMachine(ctx context.Context, out io.Writer, s Settings) {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	fmt.Fprintf(out, "%s, commit %s, %s, %d cores (%s), Linux %s, load %s at the start; %d rounds of %s\n",
		time.Now().Format(time.DateOnly), strings.TrimSpace(string(commit)), runtime.Version(), runtime.NumCPU(),
		firstLine("/proc/cpuinfo", "model name"), firstLine("/proc/sys/kernel/osrelease", ""), firstLine("/proc/loadavg", ""),
		s.Rounds, s.Duration)
}

// firstLine is the first line of a file that begins so, without its name.
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
