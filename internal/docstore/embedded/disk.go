package embedded

import (
	"os"

	bolt "go.etcd.io/bbolt"
)

// Disk is what the engine does to its file beside the commits of bbolt. Package forgetful has one for
// tests, which forgets what was not synced.
type Disk interface {
	// Attach is called with each database that the engine opens for writing, before its first
	// transaction. file is the database's own.
	Attach(db *bolt.DB, file *os.File) error
	WriteAt(file *os.File, contents []byte, offset int64) error
	Sync(file *os.File) error
	// SyncDirectory makes the names of files survive a power failure.
	SyncDirectory(path string) error
}

// systemDisk is the disk of the operating system.
type systemDisk struct{}

func (systemDisk) Attach(*bolt.DB, *os.File) error { return nil }

func (systemDisk) WriteAt(file *os.File, contents []byte, offset int64) error {
	_, err := file.WriteAt(contents, offset)
	return err
}

func (systemDisk) Sync(file *os.File) error { return file.Sync() }

func (systemDisk) SyncDirectory(path string) error { return syncDirectory(path) }
