package programs_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// expectRefusal waits for the end of a process that must not start.
func expectRefusal(t *testing.T, p *launch.Process, status int, parts ...string) {
	t.Helper()
	if got := p.Wait(); got != status {
		t.Errorf("status %d, want %d", got, status)
	}
	for _, part := range parts {
		if !strings.Contains(p.Printed(), part) {
			t.Errorf("%q is not in:\n%s", part, p.Printed())
		}
	}
	if strings.Contains(p.Printed(), "Waybook is ready") {
		t.Errorf("it greets although it must not start:\n%s", p.Printed())
	}
}

func TestASecondProcessOnTheSameDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := launch.Start(t, binary, data)
	seeded := landmarks(t, first)
	second := launch.Begin(t, binary, nil, launch.FreePorts(data)...)
	expectRefusal(t, second, 1, filepath.Join(data, "waybook.db"), "in use by another process")
	if got := landmarks(t, first); got != seeded {
		t.Errorf("landmarks %v, before %v", got, seeded)
	}
	post(t, first, demoCookie(t, data),
		"func", "addAlbum", "albumTitle", "x", "category", "1", "lat", "1", "lng", "2").MustSucceed(t)
}

func TestAPortInUseIsReportedWithItsFlag(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, name := range []string{"http", "grpc", "admin"} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			p := launch.Begin(t, binary, nil, append(launch.FreePorts(data), "-"+name, taken.Addr().String())...)
			expectRefusal(t, p, 1, taken.Addr().String(), "-"+name, "WAYBOOK_"+strings.ToUpper(name))
			// It has released everything that it had started.
			launch.Start(t, binary, data)
		})
	}
}

func TestInvalidFlagsAndVariablesAreStatus78(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		environment, args, tell []string
	}{
		"an unknown flag":   {nil, []string{"-htpp", ":1"}, []string{"-htpp", "-help"}},
		"a bad network":     {nil, []string{"-trusted-proxies", "10.0.0.1"}, []string{"-trusted-proxies", "10.0.0.1/32"}},
		"two bad variables": {[]string{"WAYBOOK_DEMO=maybe", "WAYBOOK_REWARD=x"}, nil, []string{"WAYBOOK_DEMO", "WAYBOOK_REWARD"}},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			p := launch.Begin(t, binary, test.environment, append(launch.FreePorts(data), test.args...)...)
			expectRefusal(t, p, 78, test.tell...)
			if _, err := os.Stat(data); err == nil {
				t.Error("it created the data directory before it parsed its flags")
			}
		})
	}
}

func TestAFileThatIsNotAStoreIsLeftUnchanged(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file, text := filepath.Join(data, "waybook.db"), strings.Repeat("my novel\n", 2000)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRefusal(t, launch.Begin(t, binary, nil, launch.FreePorts(data)...), 1, file)
	if content, err := os.ReadFile(file); err != nil || string(content) != text {
		t.Errorf("the file was overwritten (%v)", err)
	}
}
