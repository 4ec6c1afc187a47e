package heap

import (
	"fmt"
	"strconv"
	"strings"
)

// Growth is a setting: the bytes by which the heap of a busy program grows at least before a
// garbage collection. It is a [flag.Value] such as 64MiB.
type Growth int64

// DefaultGrowth is where more memory saved little CPU (docs/performance.md).
const DefaultGrowth Growth = 64 << 20

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
