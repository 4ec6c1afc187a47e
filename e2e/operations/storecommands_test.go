package operations_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
)

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

	album, err := os.ReadFile(filepath.Join(folder, "album.crt"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := plain.must("certs", folder, "--secrets", "--namespace", "elsewhere")
	if written, err := os.ReadFile(filepath.Join(folder, "album.crt")); err != nil || bytes.Equal(written, album) {
		t.Errorf("the file of album is %s, %v: the Secrets hold another certificate", written, err)
	}
	for _, part := range []string{"name: waybook-album-tls", "namespace: elsewhere", "kind: Secret", "tls.key: |", "ca.crt: |"} {
		if !strings.Contains(secrets, part) {
			t.Errorf("no %q in\n%s", part, secrets)
		}
	}
}
