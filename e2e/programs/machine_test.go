package programs_test

import (
	"os"
	"path/filepath"
	"testing"
)

// deploy is the directory of the examples.
const deploy = "../../deploy"

// example reads a file of the examples.
func example(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// write writes a file below a directory and returns its path.
func write(t testing.TB, directory, name, text string) string {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
