package buildinfo

import (
	"runtime"
	"runtime/debug"
	"testing"
)

const checkedOut = "4e1c0a5d7b3f9e2c6a8d1b4f7e0c3a6d9b2f5e81"

func TestTheLineNamesVersionCommitAndCompiler(t *testing.T) {
	checkout := func(version, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{
			{Key: "-trimpath", Value: "true"}, {Key: "vcs.revision", Value: checkedOut}, {Key: "vcs.modified", Value: modified},
		}}
	}
	for name, test := range map[string]struct {
		build  *debug.BuildInfo
		linked string
		commit string
		want   string
	}{
		"installed by version": {
			&debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.0"}}, "", "",
			"edge v1.2.0 (commit unknown, go1.26.8)",
		},
		"built from a clean checkout": {
			checkout("v1.2.1-0.20260102030405-4e1c0a5d7b3f", "false"), "", "",
			"edge v1.2.1-0.20260102030405-4e1c0a5d7b3f (commit " + checkedOut + ", go1.26.8)",
		},
		"built from a changed checkout": {
			checkout("(devel)", "true"), "", "",
			"edge (devel) (commit " + checkedOut + ", modified, go1.26.8)",
		},
		"built for an image": {
			&debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"}}, "v1.2.0", checkedOut,
			"edge v1.2.0 (commit " + checkedOut + ", go1.26.8)",
		},
		"without a version": {
			&debug.BuildInfo{GoVersion: "go1.26.8"}, "", "",
			"edge unknown (commit unknown, go1.26.8)",
		},
		"without build info":               {nil, "", "", "edge unknown (commit unknown, unknown)"},
		"without build info, for an image": {nil, "v1.2.0", "", "edge v1.2.0 (commit unknown, unknown)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := newInfo(test.build, test.linked, test.commit).Line("edge"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestARunningProgramKnowsItsCompiler(t *testing.T) {
	if got := Read().GoVersion; got != runtime.Version() {
		t.Errorf("got %s, want %s", got, runtime.Version())
	}
}
