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
		"a stray argument":  {nil, []string{"serve"}, []string{`"serve"`, "-help"}},
		"a bad flag":        {nil, []string{"-session-ttl", "long"}, []string{"-session-ttl", "long"}},
		"a bad network":     {nil, []string{"-trusted-proxies", "10.0.0.1"}, []string{"-trusted-proxies", "10.0.0.1/32"}},
		"a bad variable":    {[]string{"WAYBOOK_DEMO=maybe"}, nil, []string{"WAYBOOK_DEMO", "maybe"}},
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

func TestAnUnknownTimeZoneIsRefusedByName(t *testing.T) {
	t.Parallel()
	p := launch.Begin(t, binary, nil, append(launch.FreePorts(t.TempDir()), "-time-zone", "Asia/Nowhere")...)
	expectRefusal(t, p, 1, "-time-zone", "Asia/Nowhere")
}

func TestAnInvalidRewardIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, reward := range []string{"-1", "1000000001"} {
		p := launch.Begin(t, binary, nil, append(launch.FreePorts(t.TempDir()), "-reward="+reward)...)
		expectRefusal(t, p, 1, "-reward", reward, "1000000000")
	}
}

func TestADirectoryThatCannotBeCreatedIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch.Begin(t, binary, nil, launch.FreePorts(filepath.Join(file, "data"))...)
	expectRefusal(t, p, 1, file)
}

func TestAFileThatIsNotAStoreIsLeftUnchanged(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(data, "waybook.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("my novel\n", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRefusal(t, launch.Begin(t, binary, nil, launch.FreePorts(data)...), 1, file)
	if content, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(content), "my novel\n") {
		t.Errorf("the file was overwritten (%v)", err)
	}
}

func TestHelpListsAllFlagsWithTheirDefaults(t *testing.T) {
	t.Parallel()
	p := launch.Begin(t, binary, nil, "-help")
	if status := p.Wait(); status != 0 {
		t.Errorf("status %d", status)
	}
	help := p.Out()
	for _, part := range []string{
		"-http", "127.0.0.1:8080", "-grpc", "unix:DATA/grpc.sock", "-admin", "127.0.0.1:8081", "-data", "waybook-data",
		"-mongodb-uri", "-demo", "default true", "-time-zone", "Asia/Taipei", "-session-ttl", "720h", "-reward", "default 10",
		"-login", "-trusted-proxies", "WAYBOOK_",
	} {
		if !strings.Contains(help, part) {
			t.Errorf("%q is not in:\n%s", part, help)
		}
	}
}
