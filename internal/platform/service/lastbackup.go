package service

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/serve"
)

// lastBackupName is the name of a file beside the embedded store. Its modification time is
// the moment when the last complete backup began.
const lastBackupName = "last-backup"

// embeddedSource is the source of backups of an embedded store.
type embeddedSource struct {
	*embedded.Engine
	// mark is the path of the file lastBackupName. A file survives a restart, and a script
	// that backs up in another way, such as by a snapshot of the volume, can touch it.
	mark string
}

func newEmbeddedSource(engine *embedded.Engine, flags StoreFlags) embeddedSource {
	return embeddedSource{engine, filepath.Join(flags.Data, lastBackupName)}
}

// RecordBackup sets the moment of the last backup.
func (s embeddedSource) RecordBackup(began time.Time) error {
	file, err := os.OpenFile(s.mark, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Chtimes(s.mark, began, began))
}

// lastBackup returns the moment of the last backup as a Unix time in seconds; 0 if there is
// none, or if it cannot be read.
func (s embeddedSource) lastBackup() float64 {
	info, err := os.Stat(s.mark)
	if err != nil {
		return 0
	}
	return float64(info.ModTime().UnixMilli()) / 1000
}

func (s embeddedSource) count(metrics *serve.Metrics) {
	metrics.GaugeFunc("waybook_store_last_backup_timestamp_seconds",
		"Begin of the last complete backup of the embedded store as a Unix time; 0 if there is none.", s.lastBackup)
}
