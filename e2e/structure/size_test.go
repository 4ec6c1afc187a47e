package structure_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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

func TestTheWalkOfAWriteNamesFilesThatAPersonReadsInAnHour(t *testing.T) {
	const maxFiles, maxPackages = 35, 15
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, walk, _ := strings.Cut(string(page), "\n## One write, from the form to the file\n")
	walk, _, _ = strings.Cut(walk, "\n## ")
	files, packages := map[string]bool{}, map[string]bool{}
	for _, found := range regexp.MustCompile("`([a-z0-9/]+\\.go)`").FindAllStringSubmatch(walk, -1) {
		if _, err := os.Stat(filepath.Join(root, found[1])); err != nil {
			t.Error(err)
		}
		if files[found[1]] {
			t.Errorf("%s is there twice", found[1])
		}
		files[found[1]], packages[filepath.Dir(found[1])] = true, true
	}
	if len(files) < 20 || len(files) > maxFiles || len(packages) > maxPackages {
		t.Errorf("%d files and %d packages, at most %d and %d", len(files), len(packages), maxFiles, maxPackages)
	}
}
