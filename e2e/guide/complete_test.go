package guide

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge"
)

func TestTheGuideForInternalCallersNamesEveryReason(t *testing.T) {
	guide := read(t, docs+"grpc.md")
	reason := regexp.MustCompile(`apierror\.(?:New\([\w.]+, |NotFound\(|Invalid\()"([A-Z_]+)"|(?:reason|NotFound): +"([A-Z_]+)"`)
	named := 0
	for _, root := range []string{"../../services", "../../internal"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, match := range reason.FindAllStringSubmatch(read(t, path), -1) {
				named++
				if given := match[1] + match[2]; !strings.Contains(guide, "`"+given+"`") {
					t.Errorf("%s uses the reason %s, which the guide does not name", path, given)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if named < 15 {
		t.Errorf("only %d reasons were found in the code", named)
	}
}

func TestTheGuideForLegacyClientsNamesEveryOperation(t *testing.T) {
	guide := read(t, docs+"legacy.md")
	for _, each := range edge.Operations() {
		heading := ": `" + each.Func + "`"
		if each.Variant.Flag() != nil {
			heading += " with `" + each.Variant.Selector() + "=true`"
		}
		if !strings.Contains(guide, heading+"\n") {
			t.Errorf("the guide has no part on %s", heading)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
