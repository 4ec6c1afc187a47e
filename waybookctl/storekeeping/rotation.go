package storekeeping

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/waybook/waybook/waybookctl/backupplace"
)

const (
	// backupTime is the layout of the time in the name of a backup, in UTC. Names of the
	// same service sort by it.
	backupTime         = "20060102T150405Z"
	namePrefix         = "waybook-"
	backupExtension    = ".db"
	encryptedExtension = ".age"
	// unfinishedExtension ends the name of a file that package atomicfile has not finished.
	unfinishedExtension = ".part"
)

// Retention says which backups stay: those that Count or Age keeps. Without either all stay.
type Retention struct {
	// Count keeps the newest.
	Count int
	// Age keeps those that are younger.
	Age time.Duration
}

// Rotation is the backups of one store in a place.
type Rotation struct {
	place  backupplace.Place
	prefix string
}

// NewRotation returns the backups of a service in a place, which services may share. Account is
// the service of standalone too, so its backups are named waybook-TIME.db.
func NewRotation(place backupplace.Place, service string) Rotation {
	prefix := namePrefix
	if service != "account" {
		prefix += service + "-"
	}
	return Rotation{place, prefix}
}

// Name returns the name of a backup that begins now.
func (r Rotation) Name(now time.Time, isEncrypted bool) string {
	name := r.prefix + now.UTC().Format(backupTime) + backupExtension
	if isEncrypted {
		name += encryptedExtension
	}
	return name
}

// IsBackup reports whether a name is that of a backup of some service.
func IsBackup(name string) bool {
	return strings.HasPrefix(name, namePrefix) && (strings.HasSuffix(name, backupExtension) || strings.HasSuffix(name, encryptedExtension))
}

// Newest returns the name of the newest backup. Errors: fs.ErrNotExist.
func (r Rotation) Newest(ctx context.Context) (string, error) {
	complete, _, err := r.list(ctx)
	if err != nil {
		return "", err
	}
	if len(complete) == 0 {
		return "", fmt.Errorf("there is no backup %sTIME%s: %w", r.place.Of(r.prefix), backupExtension, fs.ErrNotExist)
	}
	return complete[len(complete)-1], nil
}

// Prune removes the backups that nothing keeps, and what earlier backups left unfinished. It never
// removes the one of a name, which has just been written, even if the clock was set back. It returns
// the names of the removed files.
func (r Rotation) Prune(ctx context.Context, written string, keep Retention, now time.Time) (removed []string, err error) {
	complete, unfinished, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(complete, func(name string) bool { return name == written })
	if keep == (Retention{}) {
		others = nil
	}
	condemned := slices.DeleteFunc(others[:max(0, len(others)-max(0, keep.Count-1))], func(name string) bool {
		return keep.Age > 0 && now.Sub(r.began(name)) < keep.Age
	})
	for _, name := range unfinished {
		if name < written { // a later one may still be written
			condemned = append(condemned, name)
		}
	}
	for _, name := range condemned {
		if err := r.place.Remove(ctx, name); err != nil {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// began returns the moment in the name of a backup; the zero time if it is none.
func (r Rotation) began(name string) time.Time {
	moment, _, _ := strings.Cut(strings.TrimPrefix(name, r.prefix), ".")
	began, err := time.Parse(backupTime, moment)
	if err != nil {
		return time.Time{}
	}
	return began
}

// list returns the names of the backups and of the unfinished ones, the oldest first.
func (r Rotation) list(ctx context.Context) (complete, unfinished []string, err error) {
	names, err := r.place.List(ctx, r.prefix)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if r.began(name).IsZero() {
			continue
		}
		_, ending, _ := strings.Cut(name, ".")
		switch ending = "." + ending; {
		case ending == backupExtension, ending == backupExtension+encryptedExtension:
			complete = append(complete, name)
		case strings.HasPrefix(ending, backupExtension+".") && strings.HasSuffix(ending, unfinishedExtension):
			unfinished = append(unfinished, name)
		}
	}
	return complete, unfinished, nil
}
