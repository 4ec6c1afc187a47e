package operations_test

import (
	"runtime"
	"strings"
	"testing"
)

func TestTheVersionIsPrintedWithoutAnyService(t *testing.T) {
	t.Parallel()
	printed := operator{t, "127.0.0.1:1"}.must("--version")
	if !strings.HasPrefix(printed, "waybookctl ") || !strings.HasSuffix(printed, ", "+runtime.Version()+")\n") {
		t.Errorf("printed %q", printed)
	}
}
