//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// TakeAttributes gives a file the owner and the permissions of the store at a path, or the owner of its directory if there
// is no store. So a service can open what root wrote. Only root can give every file away.
func TakeAttributes(file, store string) error {
	var of, made syscall.Stat_t
	err := syscall.Stat(store, &of)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		err = syscall.Stat(filepath.Dir(store), &of)
	}
	if err == nil {
		err = syscall.Stat(file, &made)
	}
	if err != nil {
		return fmt.Errorf("the owners of %s and %s: %w", store, file, err)
	}
	// The unit of a service permits no chown.
	if made.Uid != of.Uid || made.Gid != of.Gid {
		if err := os.Chown(file, int(of.Uid), int(of.Gid)); err != nil && os.Geteuid() == 0 {
			return err
		}
	}
	if isNew || made.Mode == of.Mode {
		return nil
	}
	return os.Chmod(file, fs.FileMode(of.Mode)&fs.ModePerm)
}
