package programs_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

func TestTheLogNamesTheAddressesTheStoreAndWhyTheProgramStopped(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := launch.Start(t, binary, data) // making demo content is not in the audit log
	p.End(syscall.SIGTERM)
	lines := strings.Split(strings.TrimSuffix(p.Logged(), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("more than a warning and the lines of start and stop is logged:\n%s", p.Logged())
	}
	expectParts(t, lines[0], "level=WARN", "the gRPC port has no TLS")
	expectParts(t, lines[1], "level=INFO", "msg=started", "program=standalone", "version=", "commit=",
		"http="+p.HTTP, "grpc="+p.GRPC, "admin="+p.Admin, `store="embedded `+filepath.Join(data, "waybook.db")+`"`)
	expectParts(t, lines[2], "level=INFO", "msg=stopped", "program=standalone", `cause="terminated signal received"`, "duration_ms=")
}

func expectParts(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
}
