package send

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// markName is the file that marks a folder as that of an import.
const markName = "waybook-import"

// isPart reports whether an import has made a file in its folder. atomicfile leaves sorted.json.*.part after a crash.
func isPart(name string) bool {
	return slices.Contains([]string{sortedName, journalName, identitiesName, recordsName, problemsName}, name) ||
		strings.HasPrefix(name, sortedName+".") && strings.HasSuffix(name, ".part")
}

// claim makes a folder that of one import, until the file that it returns is closed. Errors: *RefusedError
// if another import has it.
func claim(folder string) (lock *os.File, err error) {
	path := filepath.Join(folder, markName)
	for {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		if _, err := partsOf(folder); err != nil {
			return nil, err
		}
		lock, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the import that had the folder has removed it
		}
		if err != nil {
			return nil, err
		}
		isLocked, err := tryLock(lock)
		if err == nil && !isLocked {
			err = &RefusedError{"nothing was changed: another import uses the journal " + folder + "; wait until it ends, or name another one with --journal"}
		}
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		held, err := lock.Stat()
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		if there, err := os.Stat(path); err == nil && os.SameFile(there, held) {
			return lock, nil
		}
		if err := lock.Close(); err != nil { // of a file that was removed meanwhile
			return nil, err
		}
	}
}

// partsOf returns what an import has left in a folder, apart from its mark. It fails if anything else is there.
func partsOf(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	isMarked := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == markName })
	for _, entry := range entries {
		switch name := entry.Name(); {
		case isMarked && isPart(name):
			names = append(names, name)
		case !isMarked || name != markName:
			return nil, fmt.Errorf("%s holds %s, which no import made; name another folder", folder, name)
		}
	}
	return names, nil
}

// empty removes what an earlier import left in a folder, apart from its mark: sorted.json before the records.
func empty(folder string) error {
	names, err := partsOf(folder)
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// remove removes what an import left in its folder, and the folder.
func remove(folder string) error {
	if err := empty(folder); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(folder, markName)); err != nil {
		return err
	}
	return os.Remove(folder)
}
