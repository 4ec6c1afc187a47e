//go:build unix

package embedded

import (
	"errors"
	"os"
	"syscall"
)

// syncDirectory makes new files of a directory survive a power failure.
func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// isDiskFull reports whether a write failed for lack of space.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
