package operations_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

func TestAStoreIsPreparedAndCheckedWhileNoServiceHasItOpen(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	on := operator{t, "127.0.0.1:1"}
	on.run("", "store", "check", "--data", data).expect(3, "no embedded store")
	on.must("store", "prepare", "--data", data)
	var prepared struct {
		Collections []struct{ Made bool }
	}
	on.mustRead(&prepared, "store", "prepare", "--data", data)
	if len(prepared.Collections) < 15 || prepared.Collections[0].Made {
		t.Errorf("prepared again: %+v", prepared)
	}

	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), data)
	on.run("", "store", "check", "--data", data).expect(1, "stop it first")
	if status := waybook.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	var checked struct{ Verdict string }
	on.mustRead(&checked, "store", "check", "--data", data)
	if checked.Verdict != "clean" {
		t.Errorf("checked: %+v", checked)
	}
	if told := on.must("store", "check", "--data", data); !strings.Contains(told, "pois") || !strings.HasSuffix(told, "The store is clean.\n") {
		t.Errorf("check printed:\n%s", told)
	}
}

func TestOnlyTheOperatorsCertificateIsAuthorized(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plain := operator{t, "127.0.0.1:1"}
	plain.must("certs", folder)
	plain.must("certs", folder, "--names", "edge", "--names", "passerby")
	flags := func(name string) []string {
		return []string{
			"--tls-cert", filepath.Join(folder, name+".crt"), "--tls-key", filepath.Join(folder, name+".key"), "--tls-ca", filepath.Join(folder, "ca.crt"),
		}
	}
	waybook := launch.Start(t, filepath.Join(binaries, "standalone"), t.TempDir(), append(flags("album"), "-demo=false")...)
	on := operator{t, waybook.GRPC}
	on.must(append(flags("operator"), "user", "create", "Mei")...)
	on.run("", append(flags("passerby"), "user", "create", "Mei")...).expect(4, "may not call", "operator")
	on.run("", "user", "create", "Mei").expect(5)
	on.run("", append(flags("nobody"), "user", "create", "Mei")...).expect(2, "nobody.crt")
	on.run("", "user", "create", "Mei", "--address", "waybook.example:9090").expect(2, "--plaintext")
	if key, err := os.Stat(filepath.Join(folder, "ca.key")); err != nil || key.Mode().Perm() != 0o600 {
		t.Errorf("the key of the authority: %v, %v", key, err)
	}

	secrets := plain.must("certs", folder, "--secrets", "--namespace", "elsewhere")
	for _, part := range []string{"name: waybook-album-tls", "namespace: elsewhere", "kind: Secret", "tls.key: |", "ca.crt: |"} {
		if !strings.Contains(secrets, part) {
			t.Errorf("no %q in\n%s", part, secrets)
		}
	}
}
