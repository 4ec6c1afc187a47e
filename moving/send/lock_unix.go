//go:build unix

package send

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file, unless another process has it. The lock ends with the process.
func tryLock(file *os.File) (isLocked bool, err error) {
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) // #nosec G115 -- a descriptor
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
