package operations_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/internal/longform"
)

// makeRelease makes the files of a release for linux/amd64, without images, and returns their folder.
func makeRelease(t *testing.T, version string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), version)
	command := exec.CommandContext(t.Context(), "../../deploy/release", "-changed", "-version", version, "-platforms", "linux/amd64", "-images=false", "-out", out)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return out
}

// dpkg runs dpkg in a root of its own, and returns what it prints.
func dpkg(t *testing.T, root string, args ...string) string {
	t.Helper()
	args = append([]string{"--root=" + root, "--force-script-chrootless", "--force-not-root", "--log=/dev/null"}, args...)
	output, err := exec.CommandContext(t.Context(), "dpkg", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("dpkg %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

func TestTheDebianPackageIsInstalledUpgradedAndRemoved(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("SKIPPED: dpkg is missing")
	}
	root := t.TempDir()
	path := func(name string) string { return filepath.Join(root, name) }
	for _, directory := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/waybook"} {
		if err := os.MkdirAll(path(directory), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(name, want string) {
		t.Helper()
		if text, err := os.ReadFile(path(name)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: %v; want %q in %.100q", name, err, want, text)
		}
	}
	write("var/lib/dpkg/status", "")
	write("var/lib/waybook/store.db", "data")
	const version = "v0.0.1"
	release := makeRelease(t, version)
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = release
	if output, err := check.CombinedOutput(); err != nil || !strings.Contains(string(output), ".cdx.json: OK") {
		t.Errorf("%v\n%s", err, output)
	}
	unpack := exec.CommandContext(t.Context(), "tar", "-xzf", "waybook-0.0.1-linux-amd64.tar.gz", "--strip-components=1", "-C", root)
	unpack.Dir = release
	if output, err := unpack.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	has("deploy/proxy/nginx.conf", "proxy_pass")
	install := func() {
		dpkg(t, root, "--install", filepath.Join(release, "waybook_"+strings.TrimPrefix(version, "v")+"_amd64.deb"))
	}
	install()
	for _, program := range []string{"usr/bin/waybook", "usr/bin/waybookctl"} {
		output, err := exec.CommandContext(t.Context(), path(program), "--version").Output()
		if err != nil || !strings.Contains(string(output), version) || strings.Contains(string(output), "commit unknown") {
			t.Errorf("%s prints %q, %v", program, output, err)
		}
	}
	has("usr/lib/systemd/system/waybook.service", "ExecStart=/usr/bin/waybook -config /etc/waybook/waybook.yaml\n")
	has("usr/lib/systemd/system/waybook-backup.service", "ExecStart=/usr/bin/waybookctl ")
	has("etc/waybook/waybook.yaml", "data: /var/lib/waybook\n")
	write("etc/waybook/waybook.yaml", "# mine\n")
	install() // an upgrade takes the same steps
	has("etc/waybook/waybook.yaml", "# mine\n")
	dpkg(t, root, "--remove", "waybook")
	if _, err := os.Stat(path("usr/bin/waybook")); !os.IsNotExist(err) {
		t.Errorf("a removal leaves the program: %v", err)
	}
	has("etc/waybook/waybook.yaml", "# mine\n")
	dpkg(t, root, "--purge", "waybook")
	has("var/lib/waybook/store.db", "data")
}
