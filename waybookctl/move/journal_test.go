package move

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder of the operator may have files with any names.
func TestNothingIsDeletedThatAnImportDidNotMake(t *testing.T) {
	for _, foreign := range []string{recordsName, journalName, sortedName, identitiesName, "notes.txt"} {
		folder := t.TempDir()
		own := filepath.Join(folder, foreign)
		if err := os.WriteFile(own, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, do := range map[string]func(string) error{"an import": empty, "its end": remove} {
			if err := do(folder); err == nil || !strings.Contains(err.Error(), foreign) {
				t.Errorf("%s beside %s: got error %v, want one that names the file", name, foreign, err)
			}
		}
		if text, err := os.ReadFile(own); err != nil || string(text) != "precious" {
			t.Errorf("%s: %q, %v", foreign, text, err)
		}
	}
}

func TestAFolderOfAnImportIsUsedAgainAndRemoved(t *testing.T) {
	folder := t.TempDir()
	fill := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		if err := empty(folder); err != nil {
			t.Fatal(err)
		}
		fill(recordsName, journalName, sortedName, identitiesName)
	}
	// What is deleted is decided before anything is.
	fill("notes.txt")
	if err := remove(folder); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("beside notes.txt: got error %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, journalName)); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(folder, "notes.txt")); err != nil {
		t.Fatal(err)
	}
	if err := remove(folder); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
