package cli

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/mtls"
)

// identity writes a certificate for a name, and the authority that its owner trusts.
func identity(t *testing.T, by, trusted *devca.Authority, name string, lifetime time.Duration) mtls.Files {
	t.Helper()
	own, err := by.Issue([]string{name}, time.Now(), lifetime)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := trusted.Pair()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files := mtls.Files{
		Certificate: filepath.Join(folder, "tls.crt"), Key: filepath.Join(folder, "tls.key"), Authorities: filepath.Join(folder, "ca.crt"),
	}
	for path, content := range map[string][]byte{files.Certificate: own.Certificate, files.Key: own.Key, files.Authorities: authority.Certificate} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// serveEmpty serves gRPC without any service and returns its address.
func serveEmpty(t *testing.T, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, done := grpc.NewServer(options...), make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // returns after Stop
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return listener.Addr().String()
}

func TestACertificateThatIsNotAcceptedIsNamed(t *testing.T) {
	const day = 24 * time.Hour
	ours, err := devca.New("ours", time.Now(), day)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := devca.New("foreign", time.Now(), day)
	if err != nil {
		t.Fatal(err)
	}
	secured := func(lifetime time.Duration) string {
		own, err := mtls.Load(identity(t, ours, ours, "account", lifetime), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return serveEmpty(t, grpc.Creds(own.Server()))
	}
	server, operator := secured(day), identity(t, ours, ours, "operator", day)
	for _, test := range []struct {
		name, address string
		files         mtls.Files
		serverName    string
		tell          []string
	}{
		{"the services' authority is not trusted", server, identity(t, foreign, foreign, "operator", day), "account",
			[]string{"the certificate of the account service at " + server + " is from an authority that is not in --tls-ca", "waybook-operator-tls"}},
		{"the address is a tunnel", server, operator, "",
			[]string{"is for another name", "127.0.0.1", "--tls-server-name account"}},
		{"the name is another service's", server, operator, "album",
			[]string{"is for another name: certificate is valid for account, not album"}},
		{"the service's certificate has expired", secured(-time.Minute), operator, "account",
			[]string{"is not valid: certificate has expired"}},
		{"the service does not trust this program's authority", server, identity(t, foreign, ours, "operator", day), "account",
			[]string{"does not accept the certificate in --tls-cert: ", "--tls-key"}},
		{"the service does not use TLS", serveEmpty(t), operator, "account",
			[]string{"does not use TLS", "--tls-cert", "--account"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := runWith(t.Context(), map[string]string{"WAYBOOK_TLS_SERVER_NAME": test.serverName}, "", "user", "show", "1", "--account", test.address,
				"--tls-cert", test.files.Certificate, "--tls-key", test.files.Key, "--tls-ca", test.files.Authorities)
			got.expect(t, statusRefused, test.tell...)
		})
	}
	// The name is accepted; the process has no services.
	runWith(t.Context(), nil, "", "user", "show", "1", "--account", server, "--tls-server-name", "account",
		"--tls-cert", operator.Certificate, "--tls-key", operator.Key, "--tls-ca", operator.Authorities).
		expect(t, statusFailed, "does not have this operation of the account service")
}
