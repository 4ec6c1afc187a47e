package guides_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/internal/longform"
)

// The CronJob of the component certificates, with the model of an API server.
func TestCertificatesThatExpireSoonAreRenewedWithoutCertManager(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	d := newDesk(t)
	d.must(namespace + "go run ./waybookctl certs ~/.waybook-certificates --secrets --lifetime 800h | kubectl apply -f -\n")
	account := filepath.Join(d.directory, "account")
	if err := os.MkdirAll(account, 0o700); err != nil {
		t.Fatal(err)
	}
	pair, err := launch.NewAuthority(t).Pair()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"token": []byte("token\n"), "ca.crt": pair.Certificate} {
		if err := os.WriteFile(filepath.Join(account, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	renew := "go run ./waybookctl certs ~/.waybook-certificates --api-server " + d.cluster.URL + " --service-account " + account + " --renew-before "
	const read = "kubectl -n waybook get secret waybook-album-tls -o go-template='{{index .data \"tls.crt\"}} {{index .data \"ca.crt\"}}'\n"
	before := d.must(read)
	if printed := d.must(renew + "720h\n"); strings.Contains(printed, "renewed") || d.must(read) != before {
		t.Errorf("a certificate that is valid for long was renewed: %s", printed)
	}
	if printed := d.must(renew + "801h\n"); strings.Count(printed, "renewed the certificate of ") != 6 {
		t.Errorf("printed %s", printed)
	}
	after := d.must(read)
	if oldCertificate, oldAuthority, _ := strings.Cut(before, " "); strings.HasPrefix(after, oldCertificate) || !strings.HasSuffix(after, oldAuthority) {
		t.Error("the certificate is the old one, or the authority is another")
	}
	if printed, err := d.run("rm ~/.waybook-certificates/ca.*\n" + renew + "2200h --lifetime 5000h\n"); err == nil || !strings.Contains(printed, "neither ca.crt nor ca.key") {
		t.Errorf("without an authority: %v, %s", err, printed)
	}
	// An authority that the processes do not trust.
	d.must("go run ./waybookctl certs ~/.waybook-certificates\n")
	if printed, err := d.run(renew + "2200h --lifetime 5000h\n"); err == nil || !strings.Contains(printed, "nobody would accept") || d.must(read) != after {
		t.Errorf("with another authority: %v, %s", err, printed)
	}
	if printed, err := d.run("kubectl -n waybook delete secret waybook-poi-tls\n" + renew + "2200h --lifetime 5000h --names poi\n"); err == nil || !strings.Contains(printed, "404") {
		t.Errorf("without the Secret: %v, %s", err, printed)
	}
}
