package storekeeping_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/waybook/waybook/internal/docstore/embedded"
	"github.com/waybook/waybook/internal/platform/service"
	"github.com/waybook/waybook/waybookctl/backupplace"
	"github.com/waybook/waybook/waybookctl/progress"
	"github.com/waybook/waybook/waybookctl/storekeeping"
)

// A supervisor starts a service again and again, while a backup takes minutes to copy.
func TestARestoreReplacesNoStoreOfAServiceThatStartsMeanwhile(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"no store":        func(string) error { return nil },
		"a damaged store": func(path string) error { return os.WriteFile(path, []byte("damaged"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			backup := filepath.Join(t.TempDir(), "backup.db")
			made, err := embedded.Open(t.Context(), backup)
			if err != nil {
				t.Fatal(err)
			}
			if err := made.Close(); err != nil {
				t.Fatal(err)
			}
			options := storekeeping.Options{Store: service.StoreFlags{Data: t.TempDir()}}
			store := options.Store.File()
			if err := damage(store); err != nil {
				t.Fatal(err)
			}
			source := storekeeping.Source{Name: backup, Open: func() (backupplace.File, error) {
				if err := os.RemoveAll(store); err != nil {
					t.Fatal(err)
				}
				running, err := embedded.Open(t.Context(), store)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := running.Close(); err != nil {
						t.Error(err)
					}
				})
				return backupplace.OpenFile(backup)
			}}
			if done, err := storekeeping.Restore(t.Context(), options, source, time.Now(), progress.New(io.Discard)); err == nil {
				t.Errorf("the restore replaced the store: %+v", done)
			} else {
				t.Log(err)
			}
			if names := namesIn(t, options.Store.Data); !slices.Equal(names, []string{"waybook.db", "waybook.db.reserve"}) {
				t.Errorf("there are %v", names)
			}
		})
	}
}
