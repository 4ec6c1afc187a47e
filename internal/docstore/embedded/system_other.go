//go:build !unix

package embedded

import (
	"errors"
	"io/fs"
	"os"
)

// syncDirectory does nothing on systems that cannot sync a directory.
func syncDirectory(string) error { return nil }

// isDiskFull returns false: every failure counts as a failing disk.
func isDiskFull(error) bool { return false }

// TakeAttributes gives a file the permissions of the store at a path, if there is one.
func TakeAttributes(file, store string) error {
	of, err := os.Stat(store)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(file, of.Mode().Perm())
}

// GiveAll does nothing: here, files have no owner that a service needs.
func GiveAll(string, string) error { return nil }
