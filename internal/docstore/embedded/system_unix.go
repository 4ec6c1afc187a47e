//go:build unix

package embedded

import (
	"errors"
	"io/fs"
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

// takeAttributes gives a file the owner and the permissions of another one.
func takeAttributes(path string, of fs.FileInfo) error {
	owner, ok := of.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("the owner of the file is unknown")
	}
	if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
		return err
	}
	return os.Chmod(path, of.Mode().Perm())
}
