// Package operators has the built files of the pages for operators. waybookctl serves them; no server
// of Waybook does, so visitors cannot load them.
package operators

import (
	"embed"
	"io/fs"
)

// dist is what `npm run build` makes of console/src/operators.
//
//go:embed all:dist
var dist embed.FS

// Files returns the files: index.html, and those that it loads below assets.
func Files() (fs.FS, error) { return fs.Sub(dist, "dist") }
