package moving_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

func TestAnExportOfAnOwnerIsTheSameAfterAnImport(t *testing.T) {
	from := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), "-grpc=")
	to := startOn(t, t.TempDir())
	// The other users of the demo content have no albums and no entries.
	found := succeed(t, "user", "find", "--address", socket(from), "demo@waybook.example", "-o", "json")
	_, rest, _ := strings.Cut(found, `"user_id": `)
	owner, _, _ := strings.Cut(rest, ",")
	file := filepath.Join(t.TempDir(), "person.ndjson")
	succeed(t, "user", "export", "--address", socket(from), owner, file)
	succeed(t, "move", "import", "--address", socket(to), "--journal", filepath.Join(t.TempDir(), "journal"), "--allow", "dangling", file)
	for noun, flag := range map[string]string{"album": "--owner", "entry": "--author"} {
		want := succeed(t, noun, "export", "--address", socket(from), flag, owner, "-")
		got := succeed(t, noun, "export", "--address", socket(to), flag, owner, "-")
		if got != want || !strings.Contains(want, fmt.Sprintf(`{"kind":"%s",`, noun)) || !strings.Contains(want, `"kind":"comment"`) {
			t.Errorf("exported were\n%s\nand after an import\n%s", want, got)
		}
	}
}

// socket returns the gRPC address of a standalone that was started with -grpc= alone.
func socket(of *launch.Process) string { return "unix:" + filepath.Join(of.Data, "grpc.sock") }
