package storekeeping

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// backupTime is the layout of the time in the name of a backup, in UTC. Names of the
	// same service sort by it.
	backupTime      = "20060102T150405Z"
	backupExtension = ".db"
	// unfinishedExtension ends the name of a file that package atomicfile has not finished.
	unfinishedExtension = ".part"
)

// Rotation is a directory of backups of one store, of which the newest are kept.
type Rotation struct {
	directory, prefix string
	keep              int
}

// NewRotation returns the rotation of the backups of a service in a directory. keep is how
// many of them stay, at least 1. Services may share the directory. Account is the service of
// standalone too, so its backups are named waybook-TIME.db.
func NewRotation(directory, service string, keep int) Rotation {
	prefix := "waybook-"
	if service != "account" {
		prefix += service + "-"
	}
	return Rotation{directory, prefix, keep}
}

// Path returns the path of a backup that begins now. It creates the directory if it does not
// exist.
func (r Rotation) Path(now time.Time) (string, error) {
	if err := os.MkdirAll(r.directory, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(r.directory, r.prefix+now.UTC().Format(backupTime)+backupExtension), nil
}

// Newest returns the path of the newest backup. Errors: fs.ErrNotExist.
func (r Rotation) Newest() (string, error) {
	complete, _, err := r.list()
	if err != nil {
		return "", err
	}
	if len(complete) == 0 {
		return "", fmt.Errorf("%s has no file %s%s%s: %w", r.directory, r.prefix, backupTime, backupExtension, fs.ErrNotExist)
	}
	return filepath.Join(r.directory, complete[len(complete)-1]), nil
}

// Prune removes the oldest backups until the kept number remains, and what earlier backups
// left unfinished. It never removes the backup at path, which has just been written, even if
// the clock was set back. It returns the names of the removed files.
func (r Rotation) Prune(path string) (removed []string, err error) {
	complete, unfinished, err := r.list()
	if err != nil {
		return nil, err
	}
	written := filepath.Base(path)
	others := slices.DeleteFunc(complete, func(name string) bool { return name == written })
	condemned := others[:max(0, len(others)-(r.keep-1))]
	for _, name := range unfinished {
		if name < written { // a later one may still be written
			condemned = append(condemned, name)
		}
	}
	for _, name := range condemned {
		if err := os.Remove(filepath.Join(r.directory, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// list returns the names of the backups and of the unfinished ones, the oldest first.
func (r Rotation) list() (complete, unfinished []string, err error) {
	entries, err := os.ReadDir(r.directory) // sorted by name
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range entries {
		rest, isOurs := strings.CutPrefix(entry.Name(), r.prefix)
		moment, ending, _ := strings.Cut(rest, ".")
		if _, err := time.Parse(backupTime, moment); err != nil || !isOurs || !entry.Type().IsRegular() {
			continue
		}
		switch ending = "." + ending; {
		case ending == backupExtension:
			complete = append(complete, entry.Name())
		case strings.HasPrefix(ending, backupExtension+".") && strings.HasSuffix(ending, unfinishedExtension):
			unfinished = append(unfinished, entry.Name())
		}
	}
	return complete, unfinished, nil
}
