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

// TakeAttributes gives a file the owner and the permissions of the store at a path, or the owner
// of its directory if there is no store. So a service can open what root wrote. Only root can give
// every file away.
func TakeAttributes(file, store string) error {
	var made syscall.Stat_t
	of, isNew, err := statStore(store)
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

// statStore returns the attributes of the store at a path, or of its directory if there is no
// store.
func statStore(store string) (of syscall.Stat_t, isNew bool, err error) {
	err = syscall.Stat(store, &of)
	if isNew = errors.Is(err, fs.ErrNotExist); isNew {
		err = syscall.Stat(filepath.Dir(store), &of)
	}
	return of, isNew, err
}

// GiveAll gives a directory and all in it the owner of the store at a path, or of its directory if
// there is no store. Only root can.
func GiveAll(directory, store string) error {
	of, _, err := statStore(store)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(directory) // the owner may put links into it meanwhile
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, root.Lchown(path, int(of.Uid), int(of.Gid)))
	})
	return errors.Join(err, root.Close())
}
