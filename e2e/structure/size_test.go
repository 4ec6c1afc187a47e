package structure_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxLines is how long a file may be that a person has to read.
const maxLines = 400

func TestNoFileIsLongerThanAPersonReads(t *testing.T) {
	count := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "gen" || name == "node_modules" || len(name) > 2 && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		count++
		if lines := strings.Count(string(text), "\n"); lines > maxLines {
			t.Errorf("%s has %d lines, at most %d", path, lines, maxLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 400 {
		t.Errorf("found only %d files", count)
	}
}
