package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/waybookctl/output"
)

// maxReplyBytes bounds the reply of an API server. etcd keeps at most 1.5 MiB.
const maxReplyBytes = 2 << 20

// tlsSecret is the part of a Secret that this program reads and writes.
type tlsSecret struct {
	Data map[string][]byte `json:"data"`
}

// renew replaces the certificates in Secrets that expire soon. A Secret must exist: the program may read
// and change those that its Role names, and create none.
func (c *certsCommand) renew(ctx context.Context, out *output.Printer, issuer *devca.Authority, names []string) error {
	server, err := c.openAPI()
	if err != nil {
		return err
	}
	defer server.client.CloseIdleConnections()
	var failed error
	for _, name := range names {
		path := "/api/v1/namespaces/" + url.PathEscape(c.Namespace) + "/secrets/" + url.PathEscape("waybook-"+name+"-tls")
		renewed, err := c.renewOne(ctx, server, issuer, name, path)
		switch {
		case err != nil: // the others need theirs
			failed = errors.Join(failed, fmt.Errorf("the certificate of %s: %w", name, err))
		case renewed:
			out.Note("renewed the certificate of %s", name)
		}
	}
	return failed
}

func (c *certsCommand) renewOne(ctx context.Context, server *apiServer, issuer *devca.Authority, name, path string) (bool, error) {
	var secret tlsSecret
	if err := server.call(ctx, http.MethodGet, path, nil, &secret); err != nil {
		return false, err
	}
	if time.Until(parsed(secret.Data["tls.crt"]).NotAfter) > c.RenewBefore {
		return false, nil
	}
	pair, err := issuer.Issue(c.hostsOf(name), time.Now(), c.Lifetime)
	if err != nil {
		return false, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(secret.Data["ca.crt"])
	if _, err := parsed(pair.Certificate).Verify(x509.VerifyOptions{Roots: trusted}); err != nil {
		return false, fmt.Errorf("ca.crt of the Secret lacks the authority in %s, so nobody would accept a new certificate: %w", c.Folder, err)
	}
	// One patch changes both keys, so that a pod never sees a certificate without its key.
	changed := tlsSecret{map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key}}
	return true, server.call(ctx, http.MethodPatch, path, changed, nil)
}

// parsed returns a certificate in PEM; an empty one, which has expired, if it is none.
func parsed(certificate []byte) *x509.Certificate {
	if block, _ := pem.Decode(certificate); block != nil {
		if leaf, err := x509.ParseCertificate(block.Bytes); err == nil {
			return leaf
		}
	}
	return &x509.Certificate{}
}

// apiServer is a Kubernetes API server, as a pod calls it.
type apiServer struct {
	client  *http.Client
	address string
	token   string
}

func (c *certsCommand) openAPI() (*apiServer, error) {
	token, err := os.ReadFile(filepath.Join(c.ServiceAccount, "token"))
	if err != nil {
		return nil, err
	}
	authorities, err := os.ReadFile(filepath.Join(c.ServiceAccount, "ca.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, fmt.Errorf("%s has no certificate", filepath.Join(c.ServiceAccount, "ca.crt"))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return &apiServer{&http.Client{Transport: transport, Timeout: time.Minute}, strings.TrimRight(c.APIServer, "/"), strings.TrimSpace(string(token))}, nil
}

// call sends a request with a body in JSON, and decodes the reply.
func (s *apiServer) call(ctx context.Context, method, path string, body, reply any) error {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.address+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	read, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		var status struct{ Message string }
		_ = json.Unmarshal(read, &status) // another reply has no message
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, status.Message)
	}
	if reply == nil {
		return nil
	}
	return json.Unmarshal(read, reply)
}
