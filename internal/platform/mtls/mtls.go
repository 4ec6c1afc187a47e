// Package mtls is who a process is to the others: a certificate with its key, and
// the authority that vouches for everybody else's, as files in PEM. Connections are
// mutually authenticated TLS 1.3; a changed file is taken up by the next connection.
package mtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// recheckAfter is how long the files are taken to be as they were.
const recheckAfter = time.Second

// Files are where an identity is kept.
type Files struct {
	// Certificate may be followed by intermediate ones. Its DNS names are the names
	// by which its owner is called and allowed.
	Certificate, Key string
	// Authorities are the certificates of those who vouch for the others.
	Authorities string
}

// Register declares the flags.
func (f *Files) Register(flags *flag.FlagSet) {
	flags.StringVar(&f.Certificate, "tls-cert", "", "`file` with this process's certificate, in PEM; read again when it changes")
	flags.StringVar(&f.Key, "tls-key", "", "`file` with the certificate's private key")
	flags.StringVar(&f.Authorities, "tls-ca", "", "`file` with the authorities of the other processes' certificates")
}

// Identity is an identity kept in files. It may be used concurrently.
type Identity struct {
	files Files
	log   *slog.Logger
	now   func() time.Time

	mu sync.Mutex
	// checked is when the files were read last, and contents what they held.
	checked  time.Time
	contents [3][]byte
	inUse    *material
}

// material is what a handshake needs.
type material struct {
	certificate tls.Certificate
	authorities *x509.CertPool
}

// Load reads an identity, or returns nil when no file is given.
func Load(files Files, log *slog.Logger) (*Identity, error) {
	return load(files, log, time.Now)
}

func load(files Files, log *slog.Logger, now func() time.Time) (*Identity, error) {
	if files == (Files{}) {
		return nil, nil
	}
	if files.Certificate == "" || files.Key == "" || files.Authorities == "" {
		return nil, errors.New("-tls-cert, -tls-key and -tls-ca go together; give all three or none")
	}
	contents, err := files.read()
	if err != nil {
		return nil, err
	}
	loaded, err := files.parse(contents)
	if err != nil {
		return nil, err
	}
	return &Identity{files: files, log: log, now: now, checked: now(), contents: contents, inUse: loaded}, nil
}

// current returns what the files hold. While they hold nothing of use, such as half of
// a change, it is what they held before.
func (i *Identity) current() *material {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now().Sub(i.checked) < recheckAfter {
		return i.inUse
	}
	i.checked = i.now()
	contents, err := i.files.read()
	if err == nil {
		if equal(contents, i.contents) {
			return i.inUse
		}
		var changed *material
		if changed, err = i.files.parse(contents); err == nil {
			i.contents, i.inUse = contents, changed
			i.log.Info("the TLS files changed and are in use", "expires", changed.certificate.Leaf.NotAfter)
		}
	}
	if err != nil {
		i.log.Error("the TLS files can't be used; those of before stay in use", "error", err)
	}
	return i.inUse
}

// Expiry is when the certificate in use expires.
func (i *Identity) Expiry() time.Time { return i.current().certificate.Leaf.NotAfter }

func equal(a, b [3][]byte) bool {
	for n := range a {
		if !bytes.Equal(a[n], b[n]) {
			return false
		}
	}
	return true
}

func (f Files) read() (contents [3][]byte, err error) {
	for n, file := range []struct{ flag, path string }{
		{"-tls-cert", f.Certificate}, {"-tls-key", f.Key}, {"-tls-ca", f.Authorities},
	} {
		if contents[n], err = os.ReadFile(file.path); err != nil {
			return contents, fmt.Errorf("%s: %w", file.flag, err)
		}
	}
	return contents, nil
}

func (f Files) parse(contents [3][]byte) (*material, error) {
	certificate, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.Certificate, f.Key, err)
	}
	if len(certificate.Leaf.DNSNames) == 0 {
		return nil, fmt.Errorf("%s: the certificate has no DNS name, by which others would know its owner", f.Certificate)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(contents[2]) {
		return nil, fmt.Errorf("%s: no certificate in PEM", f.Authorities)
	}
	return &material{certificate, authorities}, nil
}
