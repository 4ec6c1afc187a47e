//go:build unix

package service

import (
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// mayWrite reports why this user cannot write a file, or in a directory.
func mayWrite(path string, info fs.FileInfo) error {
	wanted := uint32(unix.R_OK | unix.W_OK)
	if info.IsDir() {
		wanted |= unix.X_OK
	}
	if err := unix.Access(path, wanted); err != nil {
		return fmt.Errorf("%s is not writable: %w", path, err)
	}
	return nil
}
