package cli

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/mtls"
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

// The pods of the overlay dev make their own certificates so.
func TestACertificateComesFromAnAuthorityElsewhere(t *testing.T) {
	authority, folder := t.TempDir(), filepath.Join(t.TempDir(), "tls")
	certs := func(want int, args ...string) {
		t.Helper()
		var failed strings.Builder
		if status := Run(t.Context(), append([]string{"certs"}, args...), Streams{Out: io.Discard, Err: &failed}, noEnvironment); status != want {
			t.Errorf("certs %v ended with %d: %s", args, status, &failed)
		}
	}
	args := []string{folder, "--authority", authority, "--names", "album", "--file", "tls"}
	certs(statusNotFound, args...)
	certs(statusOK, authority)
	certs(statusOK, args...)
	certs(statusUsage, append(args, "--names", "blog")...)
	loaded, err := mtls.Load(mtls.Files{
		Certificate: filepath.Join(folder, "tls.crt"), Key: filepath.Join(folder, "tls.key"), Authorities: filepath.Join(folder, "ca.crt"),
	}, slog.New(slog.DiscardHandler))
	if err != nil || loaded == nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "ca.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the authority's key was copied: %v", err)
	}
}
