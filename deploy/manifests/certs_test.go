package manifests_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/mtls"
)

// loaded writes a Secret's keys to files, as in a pod, and loads them as a program does.
func loaded(t *testing.T, secret map[string][]byte) *mtls.Identity {
	t.Helper()
	directory := t.TempDir()
	for key, content := range secret {
		if err := os.WriteFile(filepath.Join(directory, key), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := mtls.Files{
		Certificate: filepath.Join(directory, "tls.crt"), Key: filepath.Join(directory, "tls.key"), Authorities: filepath.Join(directory, "ca.crt"),
	}
	result, err := mtls.Load(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestEachIdentityOfTheContractsHasACertificate(t *testing.T) {
	rules, err := access.Contracts()
	if err != nil {
		t.Fatal(err)
	}
	v := variant{overlay: "prod"}
	c, err := decode(v, render(t, v))
	if err != nil {
		t.Fatal(err)
	}
	for _, identity := range rules.Identities() {
		found := c.certificate("waybook-" + identity + "-tls")
		if found == nil || found.Spec.DNSNames[0] != identity {
			t.Errorf("no certificate has the first name %s", identity)
		}
	}
	for _, certificate := range c.certificates {
		for _, name := range certificate.Spec.DNSNames[min(1, len(certificate.Spec.DNSNames)):] {
			if slices.Contains(rules.Identities(), name) {
				t.Errorf("the certificate %s is also one of %s", certificate.Name, name)
			}
		}
	}
}

func TestTheDevelopmentCertificatesProvideAllSecretsOfDev(t *testing.T) {
	printed, err := exec.CommandContext(t.Context(), compiled(t, "waybookctl"), "certs", t.TempDir(), "--secrets").Output()
	if err != nil {
		t.Fatal(err)
	}
	v := variant{overlay: "dev"}
	c, err := decode(v, bytes.Split(printed, []byte("\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]map[string][]byte{}
	for _, s := range c.secrets {
		secrets[s.Name] = map[string][]byte{}
		for key, content := range s.StringData {
			secrets[s.Name][key] = []byte(content)
		}
	}
	for name, keys := range v.external() {
		for _, key := range keys {
			if len(secrets[name][key]) == 0 {
				t.Errorf("%s has no %s", name, key)
			}
		}
		loaded(t, secrets[name])
	}
	certificate, err := tls.X509KeyPair(secrets["waybook-album-tls"]["tls.crt"], secrets["waybook-album-tls"]["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	if names := certificate.Leaf.DNSNames; !slices.Contains(names, "album") {
		t.Errorf("the certificate of album has the names %v", names)
	}
}
