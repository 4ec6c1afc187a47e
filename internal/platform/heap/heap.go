// Package heap sets how far the heap of a program grows between two garbage collections.
//
// Go lets a heap grow by a percentage of its live data. The programs have a few MiB of live data
// and much garbage, so under load Go would collect many times a second. A [Pacer] lets the heap of
// a busy program grow by a minimum instead, and takes that memory back when the program is idle.
package heap

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/pause"
)

// percent is by how many percent the heap may grow at least. With Go's default of 100, a request
// costs a sixth more CPU, which saves only about 5 MiB.
const percent = 200

// A program is busy when its collections follow each other within busyPeriod, and idle when none
// has happened for idlePeriod. Garbage that fills the minimum growth within idlePeriod fills that of
// an idle program, an eighth of it by default, in more than busyPeriod. So a steady load does not
// make the pacer change its mind.
const (
	busyPeriod = 5 * time.Second
	idlePeriod = time.Minute
)

// The pacer looks at an idle program every idleTick, and at a busy one every busyTick. Until it has
// seen a collection that found more live data than the one before, the percentage is too high for
// them, and the heap may grow by as much as a program allocates in that time.
const (
	idleTick = time.Second
	busyTick = 20 * time.Millisecond
)

// smallest is the heap that Go collects first at 100 percent. It is proportional to the percentage.
const smallest = 4 << 20

// Pacer adjusts the percentage of the garbage collector, which is a property of the process.
type Pacer struct {
	growth int64
	state  state
	now    int // the percentage
}

// NewPacer sets the percentage of an idle program. growth is in bytes; see [Growth.Within].
func NewPacer(growth int64) *Pacer {
	debug.SetGCPercent(percent)
	return &Pacer{growth: growth, state: state{cycles: read().cycles, collected: time.Now()}, now: percent}
}

// Run adjusts the percentage until ctx is done.
func (p *Pacer) Run(ctx context.Context) {
	tick := idleTick
	for pause.For(ctx, tick) == nil {
		p.adjust(read(), time.Now())
		tick = idleTick
		if p.state.isBusy {
			tick = busyTick
		}
	}
}

func (p *Pacer) adjust(heap reading, now time.Time) {
	p.state = p.state.after(heap.cycles, now)
	next := percent
	if p.state.isBusy {
		next = percentFor(p.growth, heap.live)
	}
	if next != p.now {
		p.now = next
		debug.SetGCPercent(next)
	}
}

// state is what a pacer knows of the last collection that it has seen.
type state struct {
	cycles    uint64 // collections until then
	collected time.Time
	isBusy    bool
}

// after returns the state at a time, given how many collections there have been.
func (s state) after(cycles uint64, now time.Time) state {
	passed := now.Sub(s.collected)
	if cycles == s.cycles {
		s.isBusy = s.isBusy && passed < idlePeriod
		return s
	}
	period := passed / time.Duration(cycles-s.cycles)
	return state{cycles, now, period < busyPeriod || s.isBusy && period < idlePeriod}
}

// percentFor returns the percentage at which a heap grows by growth bytes from live bytes, but not
// less than percent.
func percentFor(growth, live int64) int {
	live = max(live, smallest) // the first collection comes at smallest times the percentage
	return int(max(percent, growth/(live/100)))
}

// reading is what the runtime reports about its collections.
type reading struct {
	cycles uint64
	live   int64 // bytes that the percentage counts from
}

func read() reading {
	samples := [...]metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples[:])
	live := uint64(0)
	for _, sample := range samples[1:] {
		live += sample.Value.Uint64()
	}
	return reading{samples[0].Value.Uint64(), int64(min(live, math.MaxInt64))}
}

// Growth is a setting: the bytes by which the heap of a busy program grows at least before a
// garbage collection. It is a [flag.Value] such as 64MiB.
type Growth int64

// DefaultGrowth is where more memory saved little CPU (docs/performance.md).
const DefaultGrowth Growth = 32 << 20

// maxGrowth bounds the flag, so that sums of it do not overflow.
const maxGrowth Growth = 64 << 30

// share is the part of the memory limit that the growth takes at most. The rest is for live data,
// stacks, and what a request may hold.
const share = 3

// Within returns the growth for a memory limit, both in bytes.
func (g Growth) Within(limit int64) int64 {
	return min(int64(g), limit/share)
}

// String returns the flag's value.
func (g Growth) String() string {
	for _, unit := range units {
		if n := int64(g) >> unit.shift; n > 0 && n<<unit.shift == int64(g) {
			return strconv.FormatInt(n, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(g), 10)
}

// Set parses the flag's value.
func (g *Growth) Set(value string) error {
	number, shift := value, 0
	for _, unit := range units {
		if n, isUnit := strings.CutSuffix(value, unit.name); isUnit {
			number, shift = n, unit.shift
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || n > uint64(maxGrowth)>>shift {
		return fmt.Errorf("%q is not from 0 to %v, such as %v", value, maxGrowth, DefaultGrowth)
	}
	*g = Growth(n << shift)
	return nil
}

// units are those of GOMEMLIMIT.
var units = [...]struct {
	name  string
	shift int
}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}

// unlimited is Go's memory limit if there is none.
const unlimited = math.MaxInt64

// Limit returns how many bytes the process may use: the least of GOMEMLIMIT and the limits of its
// control groups. It is math.MaxInt64 without any.
func Limit() int64 {
	return min(debug.SetMemoryLimit(-1), groupLimit(os.DirFS("/")))
}

// groupLimit returns the least memory limit of the control groups of the process. A line of its
// membership is ID:CONTROLLERS:PATH; version 2 names no controllers.
func groupLimit(root fs.FS) int64 {
	membership, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return unlimited // not Linux
	}
	limit := int64(unlimited)
	for line := range strings.Lines(string(membership)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) < 3:
		case fields[1] == "":
			limit = min(limit, treeLimit(root, "sys/fs/cgroup", fields[2], "memory.max"),
				treeLimit(root, "sys/fs/cgroup", fields[2], "memory.high"))
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			limit = min(limit, treeLimit(root, "sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// treeLimit returns the least limit of a group and of the groups that it is in. In a container the
// group may be invisible; its limits are then those of the root.
func treeLimit(root fs.FS, tree, group, file string) int64 {
	limit := int64(unlimited)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		limit = min(limit, readLimit(root, path.Join(tree, group, file)))
		if group == "/" {
			return limit
		}
	}
}

// readLimit returns the limit in a file, which has the text max if there is none.
func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return unlimited
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || limit <= 0 {
		return unlimited
	}
	return limit
}
