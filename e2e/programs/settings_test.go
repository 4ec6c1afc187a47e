package programs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

// writeFile writes a file of the test and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAMalformedAddressIsReportedWithItsSettingAndWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for _, rest := range []string{" amy:s3cr3t@db1/", "wb:pass@s3cr3t/s3cr3t@db.example/waybook", "amy:s3cr3t/@h/%zz"} {
		p := launch.Begin(t, binary, []string{"WAYBOOK_MONGODB_URI=mongodb://" + rest}, launch.FreePorts(t.TempDir())...)
		expectRefusal(t, p, 1, "-mongodb-uri", "malformed")
		if strings.Contains(p.Printed(), "s3cr3t") {
			t.Errorf("the password is printed:\n%s", p.Printed())
		}
		args := []string{"-check"}
		for _, name := range []string{
			"console-tiles", "console-photos", "trusted-origins", "trusted-proxies", "path-prefix",
			"otlp-endpoint", "admin-hosts",
		} {
			args = append(args, "-"+name+"=https://"+rest)
		}
		p = launch.Begin(t, binary, nil, append(args, "https://"+rest)...)
		expectRefusal(t, p, 78, "console-tiles", "console-photos")
		if strings.Contains(p.Printed(), "s3cr3t") {
			t.Errorf("the password is printed:\n%s", p.Printed())
		}
	}
}

func TestAnInvalidFileOfSettingsIsStatus78(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "waybook.yaml", "demo: false\nmax-request: 5\nmongodb-uri: mongodb://amy:s3cr3t@db1/\n")
	p := launch.Begin(t, binary, nil, "-config", file)
	expectRefusal(t, p, 78, file+`:2: unknown setting "max-request"`, file+":3: mongodb-uri holds a password", "mongodb-uri-file")
	if strings.Contains(p.Printed(), "s3cr3t") {
		t.Errorf("the password is printed:\n%s", p.Printed())
	}
}

func TestACheckReportsAllInvalidSettingsAndStartsNothing(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	file := writeFile(t, "waybook.yaml", "reward: -1\ntime-zone: Asia/Nowhere\n")
	p := launch.Begin(t, binary, []string{"WAYBOOK_MONGODB_URI=db1"},
		append(launch.FreePorts(data), "-config", file, "-check", "-http", "localhost", "-trusted-proxies", "-1")...)
	expectRefusal(t, p, 78, "-reward is -1", "-time-zone: unknown", "-mongodb-uri: the URI is malformed", `-http: "localhost"`, `"-1" for -trusted-proxies`)

	p = launch.Begin(t, binary, nil, append(launch.FreePorts(data), "-check")...)
	if status := p.Wait(); status != 0 || p.Printed() != "standalone: the settings are valid\n" {
		t.Errorf("status %d, printed %q", status, p.Printed())
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("the check created the data directory")
	}
}
