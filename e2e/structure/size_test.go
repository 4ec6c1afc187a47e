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
	const maxFiles, maxPackages, maxLines = 35, 15, 6000
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, walk, _ := strings.Cut(string(page), "\n## One write, from the form to the file\n")
	walk, _, _ = strings.Cut(walk, "\n## ")
	files, packages, lines := map[string]bool{}, map[string]bool{}, 0
	for _, found := range regexp.MustCompile("`([a-z0-9/]+\\.go)`").FindAllStringSubmatch(walk, -1) {
		text, err := os.ReadFile(filepath.Join(root, found[1]))
		if err != nil {
			t.Error(err)
		}
		if files[found[1]] {
			t.Errorf("%s is there twice", found[1])
		}
		files[found[1]], packages[filepath.Dir(found[1])] = true, true
		lines += strings.Count(string(text), "\n")
	}
	t.Logf("%d files, %d packages, %d lines", len(files), len(packages), lines)
	if len(files) < 20 || len(files) > maxFiles || len(packages) > maxPackages || lines > maxLines {
		t.Errorf("%d files, %d packages and %d lines, at most %d, %d and %d", len(files), len(packages), lines, maxFiles, maxPackages, maxLines)
	}
}
