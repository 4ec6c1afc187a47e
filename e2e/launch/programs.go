package launch

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/mtls"
)

const module = "github.com/waybook/waybook/"

// Programs returns the packages of Waybook's programs, for a deployment as separate processes.
func Programs() []string {
	return []string{
		module + "services/account/cmd/account", module + "services/album/cmd/album",
		module + "services/blog/cmd/blog", module + "services/poi/cmd/poi", module + "edge/cmd/edge",
	}
}

// StartPrograms starts Waybook as separate processes on free ports, and waits until all are ready.
// Each service has its own store in a directory below data. Each program gets args.
func StartPrograms(t testing.TB, binaries, data string, args ...string) map[string]*Process {
	t.Helper()
	started := StartServices(t, binaries, data, args...)
	started["edge"] = StartEdge(t, binaries, started, nil, args...)
	return started
}

// StartServices starts the four services in the same way.
func StartServices(t testing.TB, binaries, data string, args ...string) map[string]*Process {
	t.Helper()
	started := map[string]*Process{}
	for _, name := range []string{"account", "album", "blog", "poi"} {
		own := []string{"-grpc", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-data", filepath.Join(data, name)}
		if name != "account" {
			// Tests write more comments than people do.
			own = append(own, "-account", started["account"].GRPC, "-comments-per-minute=0", "-comments-per-user=0")
		}
		started[name] = Begin(t, filepath.Join(binaries, name), nil, append(own, args...)...).Ready()
	}
	return started
}

// StartEdge starts an edge in front of services, with variables in its environment.
func StartEdge(t testing.TB, binaries string, services map[string]*Process, environment []string, args ...string) *Process {
	t.Helper()
	own := []string{"-http", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-shutdown-delay", "0s"} // no proxy has to notice its end
	for _, name := range []string{"account", "album", "blog", "poi"} {
		own = append(own, "-"+name, services[name].GRPC)
	}
	return Begin(t, filepath.Join(binaries, "edge"), environment, append(own, args...)...).Ready()
}

// lock waits until no other process holds the lock of a file.
func lock(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = file.Close() }, nil
}

// Certificates are certificates for programs from a test's own authority.
type Certificates struct {
	t      testing.TB
	folder string
	// Authority issues the certificates, and all programs trust it.
	Authority *devca.Authority
}

// NewCertificates creates an authority.
func NewCertificates(t testing.TB) *Certificates {
	t.Helper()
	return &Certificates{t, t.TempDir(), NewAuthority(t)}
}

// NewAuthority creates another authority.
func NewAuthority(t testing.TB) *devca.Authority {
	t.Helper()
	made, err := devca.New("test", time.Now(), 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Directory returns the directory of a program's files. They have the same names as in a Secret.
func (c *Certificates) Directory(name string) string { return filepath.Join(c.folder, name) }

// Files issues a certificate to a program on this machine and writes its files, replacing earlier
// ones.
func (c *Certificates) Files(name string) mtls.Files {
	c.t.Helper()
	return WriteCertificate(c.t, c.Directory(name), name, 24*time.Hour, c.Authority, c.Authority)
}

// WriteCertificate issues a certificate to a program on this machine. It is valid for lifetime from
// now; a negative lifetime makes it expired. The function writes it to a directory with the
// authorities that the program trusts.
func WriteCertificate(
	t testing.TB, directory, name string, lifetime time.Duration, by *devca.Authority, trusted ...*devca.Authority,
) mtls.Files {
	t.Helper()
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	issued, err := by.Issue([]string{name, "127.0.0.1"}, time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	var authorities []byte
	for _, each := range trusted {
		own, err := each.Pair()
		if err != nil {
			t.Fatal(err)
		}
		authorities = append(authorities, own.Certificate...)
	}
	path := func(key string) string { return filepath.Join(directory, key) }
	files := mtls.Files{Certificate: path("tls.crt"), Key: path("tls.key"), Authorities: path("ca.crt")}
	for path, contents := range map[string][]byte{files.Certificate: issued.Certificate, files.Key: issued.Key, files.Authorities: authorities} {
		if err := os.WriteFile(path, contents, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Environment returns the variables that give a program its certificate.
func (c *Certificates) Environment(name string) []string {
	c.t.Helper()
	files := c.Files(name)
	return []string{
		"WAYBOOK_TLS_CERT=" + files.Certificate, "WAYBOOK_TLS_KEY=" + files.Key, "WAYBOOK_TLS_CA=" + files.Authorities,
	}
}

// Client returns credentials with which a test calls under a name.
func (c *Certificates) Client(name string) credentials.TransportCredentials {
	c.t.Helper()
	return ClientWith(c.t, c.Files(name))
}

// ClientWith returns credentials from certificate files.
func ClientWith(t testing.TB, files mtls.Files) credentials.TransportCredentials {
	t.Helper()
	loaded, err := mtls.Load(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Client()
}
