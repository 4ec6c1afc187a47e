package embedded

import (
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// A program that waits for the lock while Compact replaces the file gets the lock of the old file.
func TestAFileThatWasReplacedIsOpenedAgain(t *testing.T) {
	directory := t.TempDir()
	path, copied := filepath.Join(directory, "store.db"), filepath.Join(directory, "copy.db")
	for _, each := range []string{path, copied} {
		engine, err := Open(t.Context(), each)
		must(t, err)
		must(t, engine.Close())
	}
	want, err := os.Stat(copied)
	must(t, err)
	opened := 0
	db, file, err := openDatabase(t.Context(), systemDisk{}, path, bolt.Options{}, func(*bolt.DB) error {
		if opened++; opened == 2 { // after the look at its pages
			return os.Rename(copied, path)
		}
		return nil
	})
	must(t, err)
	got, err := file.Stat()
	if err != nil || !os.SameFile(got, want) || opened != 4 {
		t.Errorf("opened %d times: %v", opened, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	_, _, err = openDatabase(t.Context(), systemDisk{}, path, bolt.Options{}, func(db *bolt.DB) error { return os.Remove(db.Path()) })
	if err == nil {
		t.Error("a file that is always replaced was opened")
	}
}
