// Package atomicfile writes files that appear only once they are whole.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write replaces the file at path atomically: after a crash, path holds either the old contents or
// all that write wrote. Write removes an unfinished file; after a crash it remains as
// <path>.<random>.part.
func Write(path string, permissions fs.FileMode, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	partial := fmt.Sprintf("%s.%08x.part", path, rand.Uint32()) // #nosec G404 -- a name
	err := writePartial(partial, permissions, write)
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		if removal := os.Remove(partial); !errors.Is(removal, fs.ErrNotExist) {
			err = errors.Join(err, removal)
		}
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// WriteTo is Write, or writes to standard output if path is "-", and to a device or a pipe as it
// is. Only users who could read the replaced file may read the new one.
func WriteTo(stdout io.Writer, path string, permissions fs.FileMode, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil: // a new file
	case info.Mode().IsRegular():
		permissions &= info.Mode().Perm()
	default:
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	return Write(path, permissions, write)
}

// Replace renames a file that is synced to path, durably.
func Replace(file, path string) error {
	if err := os.Rename(file, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// Place renames a file that is synced to path, durably, if no file has that path.
func Place(file, path string) error {
	if err := os.Link(file, path); err != nil {
		return err
	}
	return errors.Join(os.Remove(file), syncFolder(filepath.Dir(path)))
}

func writePartial(path string, permissions fs.FileMode, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions)
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// syncFolder makes a rename durable on systems that can sync folders.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = folder.Sync() // some systems refuse it; the file itself is synced
	return folder.Close()
}
