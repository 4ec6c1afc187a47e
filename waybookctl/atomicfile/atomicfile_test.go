package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybook/waybook/waybookctl/atomicfile"
)

func TestWriteReplacesTheFileOnlyWhenTheNewOneIsComplete(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	text := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	expect := func(want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("the file holds %q, want %q (%v)", got, want, err)
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Errorf("the folder holds %v (%v)", entries, err)
		}
	}
	if err := atomicfile.Write(path, 0o600, text("old")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != fs.FileMode(0o600) {
		t.Errorf("the file is %v (%v)", info.Mode(), err)
	}
	broken := errors.New("broken")
	err := atomicfile.Write(path, 0o600, func(w io.Writer) error {
		return errors.Join(text("half")(w), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
	expect("old")
	if err := atomicfile.Write(path, 0o600, text("new")); err != nil {
		t.Fatal(err)
	}
	expect("new")
}

func TestAFileThatIsReplacedIsNotReadByMore(t *testing.T) {
	for _, c := range []struct{ before, asked, want fs.FileMode }{{0o644, 0o600, 0o600}, {0o640, 0o666, 0o640}, {0o400, 0o600, 0o400}} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, nil, c.before); err != nil {
			t.Fatal(err)
		}
		if err := atomicfile.WriteTo(nil, path, c.asked, func(io.Writer) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != c.want {
			t.Errorf("a file of %v, written with %v, is %v (%v); want %v", c.before, c.asked, info.Mode(), err, c.want)
		}
	}
}
