// Package buildinfo reports the build of a program. The flag -version, the log line of the
// start, and the metric waybook_build_info use it.
package buildinfo

import (
	"cmp"
	"fmt"
	"runtime/debug"
)

// version and commit are those of a release. The linker sets them for images and archives, whose
// builds record neither.
var version, commit string

// unknown replaces a value that the build did not record.
const unknown = "unknown"

type Info struct {
	// Version is a tag such as v1.2.0, a pseudo-version, or (devel).
	Version string
	// Commit is the full hash of the commit. Only builds from a checkout record it.
	Commit string
	// IsModified reports that the checkout had uncommitted changes.
	IsModified bool
	// GoVersion is the version of the compiler.
	GoVersion string
}

func Read() Info {
	build, _ := debug.ReadBuildInfo()
	return newInfo(build, version, commit)
}

// newInfo combines Go's build info, which may be nil, with the linker's version and commit, which
// take precedence.
func newInfo(build *debug.BuildInfo, version, commit string) Info {
	info := Info{Version: cmp.Or(version, unknown), Commit: cmp.Or(commit, unknown), GoVersion: unknown}
	if build == nil {
		return info
	}
	info.Version = cmp.Or(version, build.Main.Version, unknown)
	info.GoVersion = build.GoVersion
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.Commit = cmp.Or(commit, setting.Value)
		case "vcs.modified":
			info.IsModified = setting.Value == "true"
		}
	}
	return info
}

// Line describes a program in one line, such as
// "waybookctl v1.2.0 (commit 4e1c…, modified, go1.26.8)".
func (i Info) Line(program string) string {
	modified := ""
	if i.IsModified {
		modified = ", modified"
	}
	return fmt.Sprintf("%s %s (commit %s%s, %s)", program, i.Version, i.Commit, modified, i.GoVersion)
}
