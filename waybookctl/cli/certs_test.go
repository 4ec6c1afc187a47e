package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/internal/platform/devca"
)

// Whoever may write to the folder may leave a file there that everybody can read.
func TestAKeyIsReadableByItsOwnerOnlyWhateverFileItReplaces(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"edge.key", "edge.key.new", "edge.crt"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := writePair(folder, "edge", devca.Pair{Certificate: []byte("certificate"), Key: []byte("key")}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{"edge.key": 0o600, "edge.crt": 0o644} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got&^want != 0 {
			t.Errorf("%s has the permissions %v, want %v", name, got, want)
		}
	}
}
