package run

import (
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/internal/platform/mtls"
)

// certificates issues certificates for processes that use TLS. A nil value issues none.
type certificates struct {
	directory string
	authority *devca.Authority
}

func newCertificates(directory string) (*certificates, error) {
	made, err := devca.New("bench", time.Now(), 24*time.Hour)
	return &certificates{directory, made}, err
}

func (c *certificates) files(name string) (mtls.Files, error) {
	own, err := c.authority.Pair()
	if err != nil {
		return mtls.Files{}, err
	}
	issued, err := c.authority.Issue([]string{name, "127.0.0.1"}, time.Now(), 24*time.Hour)
	if err != nil {
		return mtls.Files{}, err
	}
	path := filepath.Join(c.directory, "tls-"+name)
	files := mtls.Files{Certificate: path + ".crt", Key: path + ".key", Authorities: path + ".ca"}
	for path, pem := range map[string][]byte{files.Certificate: issued.Certificate, files.Key: issued.Key, files.Authorities: own.Certificate} {
		if err := os.WriteFile(path, pem, 0o600); err != nil {
			return mtls.Files{}, err
		}
	}
	return files, nil
}

func (c *certificates) environment(name string) ([]string, error) {
	if c == nil {
		return nil, nil
	}
	files, err := c.files(name)
	return []string{
		"WAYBOOK_TLS_CERT=" + files.Certificate, "WAYBOOK_TLS_KEY=" + files.Key, "WAYBOOK_TLS_CA=" + files.Authorities,
	}, err
}

func (c *certificates) client(name string) (credentials.TransportCredentials, error) {
	files, err := c.files(name)
	if err != nil {
		return nil, err
	}
	loaded, err := mtls.Load(files, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return loaded.Client(), nil
}
