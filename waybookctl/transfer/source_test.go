package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// temporary makes this test create its temporary files in a directory of its own.
func temporary(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	t.Setenv("TMPDIR", directory)
	return directory
}

func expectEmpty(t *testing.T, directory string) {
	t.Helper()
	if files, err := os.ReadDir(directory); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestInputThatCanBeReadOnceIsCopiedAndTheCopyRemoved(t *testing.T) {
	directory := temporary(t)
	text := strings.Repeat("0123456789", 10_000)
	source, err := Open(t.Context(), "-", strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		reached := int64(0)
		content, err := io.ReadAll(source.reader(t.Context(), func(done int64) { reached = done }))
		if err != nil || string(content) != text || reached != source.Size() {
			t.Errorf("%d bytes, reached %d, %v", len(content), reached, err)
		}
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	expectEmpty(t, directory)
}

func TestACopyThatIsTooLongOrCancelledIsRemoved(t *testing.T) {
	directory := temporary(t)
	_, err := Spool(t.Context(), strings.NewReader("12345678"), 7)
	if err == nil || !strings.Contains(err.Error(), "longer than the limit of 7 bytes") {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Spool(cancelled, strings.NewReader("x"), 7); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	expectEmpty(t, directory)
}

func TestAFileIsReadInPlace(t *testing.T) {
	directory := temporary(t)
	path := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(path, []byte("name\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := Open(t.Context(), path, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	expectEmpty(t, directory)
	if content, err := io.ReadAll(source.reader(t.Context(), func(int64) {})); err != nil || string(content) != "name\n" {
		t.Errorf("%q, %v", content, err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), filepath.Dir(path), nil, 1); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
	if _, err := Open(t.Context(), path+"x", nil, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
