package heap

import (
	"testing"
	"testing/fstest"
)

func TestTheLeastLimitOfTheControlGroupsCounts(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control groups": {nil, unlimited},
		"a container": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "268435456\n", "sys/fs/cgroup/memory.high": "max\n",
		}, 256 << 20},
		"a unit in a slice": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/waybook.service\n",
			"sys/fs/cgroup/system.slice/waybook.service/memory.max":  "max\n",
			"sys/fs/cgroup/system.slice/waybook.service/memory.high": "134217728\n",
			"sys/fs/cgroup/system.slice/memory.max":                  "100000000\n",
		}, 100000000},
		"version 1, group not visible": {map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/docker/abc\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "67108864\n",
		}, 64 << 20},
		"a group outside the tree": {map[string]string{
			"proc/self/cgroup": "0::/../../other\n", "sys/fs/cgroup/memory.max": "max\n",
		}, unlimited},
		"unreadable limits": {map[string]string{
			"proc/self/cgroup": "0::/\nx\n", "sys/fs/cgroup/memory.max": "\n", "sys/fs/cgroup/memory.high": "-1\n",
		}, unlimited},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for path, text := range test.files {
				root[path] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := groupLimit(root); got != test.want {
				t.Errorf("the limit is %d, want %d", got, test.want)
			}
		})
	}
}

func TestTheGrowthLeavesMostOfTheLimit(t *testing.T) {
	for limit, want := range map[int64]int64{unlimited: 32 << 20, 96 << 20: 32 << 20, 48 << 20: 16 << 20, 0: 0} {
		if got := DefaultGrowth.Within(limit); got != want {
			t.Errorf("within %d bytes the growth is %d, want %d", limit, got, want)
		}
	}
}

func TestAGrowthReadsBackTheSame(t *testing.T) {
	for text, want := range map[string]Growth{
		"0": 0, "64MiB": 64 << 20, "65536KiB": 64 << 20, "64GiB": 64 << 30, "1024": 1024, "1025B": 1025,
	} {
		var got, again Growth
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%s is %d, %v", text, got, err)
		}
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s is printed as %s", text, got)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "+1", "1MB", "64 MiB", "65GiB", "9223372036854775808", "18446744073709551615GiB"} {
		var got Growth
		if err := got.Set(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
