package guides_test

import (
	"os"
	"strings"
	"testing"

	"github.com/waybook/waybook/edge"
)

func TestTheGuideForLegacyClientsNamesEveryOperation(t *testing.T) {
	t.Parallel()
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
