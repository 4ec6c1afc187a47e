package heap

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

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
