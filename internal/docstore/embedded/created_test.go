package embedded_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/waybook/waybook/internal/docstore/embedded"
)

func TestAnEmptyFileIsNoStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	must(t, os.WriteFile(path, nil, 0o600))
	expectOneLineEach(t, path, "the file is empty", "remove the file to start without any data")
	if size := sizeOf(t, path); size != 0 {
		t.Errorf("the file has %d bytes", size)
	}
}

func TestAMissingTargetOfALinkIsNotCreated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	target := filepath.Join(t.TempDir(), "elsewhere.db")
	must(t, os.Symlink(target, path))
	if _, err := embedded.Open(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target was created: %v", err)
	}
}

func TestProcessesThatCreateOneStoreShareIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			engine, err := embedded.Open(t.Context(), path)
			if err == nil {
				err = engine.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	expectOnly(t, path)
}
