// Package devca is a certificate authority for development and tests. It issues the
// certificates with which Waybook's processes authenticate each other. Production uses an
// authority of its own.
package devca

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"
)

// backdated is how far in the past certificates become valid, for clocks that are behind.
const backdated = 5 * time.Minute

// Authority issues certificates. It may be used concurrently.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate and its private key, in PEM.
type Pair struct {
	Certificate, Key []byte
}

// New creates an authority that is valid for lifetime from now.
func New(name string, now time.Time, lifetime time.Duration) (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-backdated), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	raw, key, err := sign(template, template, nil)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(raw)
	return &Authority{certificate, key}, err
}

// Load returns the authority with a certificate and key that Pair returned.
func Load(pair Pair) (*Authority, error) {
	loaded, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		return nil, err
	}
	key, ok := loaded.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !loaded.Leaf.IsCA {
		return nil, errors.New("the certificate and key are not an authority that this program created")
	}
	return &Authority{loaded.Leaf, key}, nil
}

// Pair returns the authority's own certificate and key.
func (a *Authority) Pair() (Pair, error) { return encode(a.certificate.Raw, a.key) }

// Issue issues a certificate for servers and clients that is valid for lifetime from now.
// names are DNS names or IP addresses, at least one.
func (a *Authority) Issue(names []string, now time.Time, lifetime time.Duration) (Pair, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, NotBefore: now.Add(-backdated), NotAfter: now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	raw, key, err := sign(template, a.certificate, a.key)
	if err != nil {
		return Pair{}, err
	}
	return encode(raw, key)
}

// sign makes a key, and a certificate for it. Without a signer, the certificate signs itself.
func sign(template, parent *x509.Certificate,
	signer *ecdsa.PrivateKey) (raw []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	raw, err = x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, cmp.Or(signer, key))
	if err != nil {
		return nil, nil, fmt.Errorf("certificate of %s: %w", template.Subject.CommonName, err)
	}
	return raw, key, nil
}

func encode(raw []byte, key *ecdsa.PrivateKey) (Pair, error) {
	rawKey, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: rawKey}),
	}, nil
}
