//go:build unix

package embedded

import (
	"errors"
	"os"
	"syscall"
)

// syncDirectory makes what was created in a directory survive a power cut.
func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(directory.Sync(), directory.Close())
}

// isDiskFull knows the errors of a write for which there is no space.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
