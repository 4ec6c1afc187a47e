//go:build !unix

package embedded

import (
	"io/fs"
	"os"
)

// syncDirectory does nothing on systems that cannot sync a directory.
func syncDirectory(string) error { return nil }

// isDiskFull returns false: every failure counts as a failing disk.
func isDiskFull(error) bool { return false }

// takeAttributes gives a file the permissions of another one.
func takeAttributes(path string, of fs.FileInfo) error { return os.Chmod(path, of.Mode().Perm()) }
