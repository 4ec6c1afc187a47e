package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/mongotest"
)

// mongotest.OnRealServer checks the name of each test that calls it.
func TestThePackagesWithTestsOnARealServerAreListed(t *testing.T) {
	files, err := filepath.Glob("../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(filepath.Dir(file)); strings.Contains(string(text), "mongotest.OnRealServer") {
			found[name] = true
		}
	}
	listed := mongotest.RealServerPackages()
	for name := range found {
		if !slices.Contains(listed, name) {
			t.Errorf("mongotest.RealServerPackages lacks %s", name)
		}
	}
	if len(found) != len(listed) {
		t.Errorf("got %v, want %v", listed, found)
	}
}
