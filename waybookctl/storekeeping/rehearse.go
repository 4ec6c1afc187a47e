package storekeeping

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/waybook/waybook/internal/content/integrity"
	"github.com/waybook/waybook/internal/platform/service"
)

// Rehearsed describes a rehearsal.
type Rehearsed struct {
	Backup    string `json:"backup"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	Documents int64  `json:"documents"`
}

// Rehearse restores a backup into a new directory within scratch, checks every page, document and index
// of it, and removes the directory. services are those of the store, as in Options. progress receives
// how many bytes are copied.
func Rehearse(ctx context.Context, backup Source, scratch string, services []string, now time.Time, progress func(copied, size int64)) (done Rehearsed, err error) {
	done.Backup = backup.Name
	directory, err := os.MkdirTemp(scratch, "waybook-rehearsal-")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	options := Options{Store: service.StoreFlags{Data: directory}, Services: services}
	restored, err := RestoreFrom(ctx, options, backup, now, progress)
	if err != nil {
		return done, err
	}
	done.Bytes, done.SHA256 = restored.Bytes, restored.SHA256
	checked, err := Check(ctx, options, integrity.Look)
	if err != nil {
		return done, err
	}
	for _, collection := range checked.Collections {
		done.Documents += collection.Documents
	}
	for _, finding := range checked.Findings {
		err = errors.Join(err, fmt.Errorf("the restored store has faults: %s of %s: %d. %s", finding.Kind, finding.Collection, finding.Count, finding.Detail))
	}
	return done, err
}
