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
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/waybookctl/atomicfile"
	"github.com/waybook/waybook/waybookctl/output"
)

// processes are the names that get a certificate by default.
var processes = []string{"account", "album", "blog", "poi", "edge", "operator"}

// authorityLifetime is how long a development certificate authority is valid.
const authorityLifetime = 10 * 365 * 24 * time.Hour

type certsCommand struct {
	Folder    string        `arg:"" help:"Folder of the certificate authority, created when missing, and of the certificates."`
	Names     []string      `placeholder:"NAME" help:"Names to issue certificates for; account, album, blog, poi, edge and operator when not given."`
	Hosts     []string      `placeholder:"HOST" help:"Additional host names or addresses in each certificate."`
	Namespace string        `twin:"" default:"waybook" placeholder:"NAMESPACE" help:"Kubernetes namespace of the host names and the Secrets. ${default} by default."`
	Lifetime  time.Duration `default:"2160h" placeholder:"DURATION" help:"Validity of the certificates; ${default} by default."`
	Secrets   bool          `help:"Print the certificates as Kubernetes Secrets, instead of writing files."`

	RenewBefore    time.Duration `placeholder:"DURATION" help:"Within a pod: renew the certificates in existing Secrets that expire within DURATION, by the API server, and leave the others."`
	APIServer      string        `name:"api-server" default:"https://kubernetes.default.svc" placeholder:"URL" help:"API server for --renew-before; ${default} by default."`
	ServiceAccount string        `default:"/var/run/secrets/kubernetes.io/serviceaccount" placeholder:"FOLDER" help:"Folder with the pod's token and the API server's ca.crt; ${default} by default."`
}

// Help returns the detailed help.
func (*certsCommand) Help() string {
	return `The certificates are for development: the authority's key is in a file beside them. Give each program its own with
--tls-cert NAME.crt --tls-key NAME.key --tls-ca ca.crt, or from the Secret waybook-NAME-tls in an existing namespace:

    waybookctl certs certs --secrets | kubectl apply -f -

Run the command again to issue new certificates from the same authority. Programs load changed files without a restart.
With --renew-before the command is the job of a CronJob, which deploy/k8s/components/certificates has.`
}

// Run makes certificates.
func (c *certsCommand) Run(ctx context.Context, out *output.Printer) error {
	if c.Lifetime <= 0 {
		return usageError("--lifetime must be greater than 0")
	}
	if c.RenewBefore != 0 && (c.RenewBefore < 0 || c.RenewBefore >= c.Lifetime) {
		return usageError("--renew-before must be greater than 0 and less than --lifetime")
	}
	names := c.Names
	if len(names) == 0 {
		names = processes
	}
	issuer, err := c.authority()
	if errors.Is(err, errNoAuthority) && c.RenewBefore == 0 {
		issuer, err = c.newAuthority()
	}
	if err != nil {
		return err
	}
	own, err := issuer.Pair()
	if err != nil {
		return err
	}
	if c.RenewBefore > 0 {
		return c.renew(ctx, out, issuer, names)
	}
	for _, name := range names {
		pair, err := issuer.Issue(c.hostsOf(name), time.Now(), c.Lifetime)
		if err != nil {
			return err
		}
		if c.Secrets {
			err = c.printSecret(out, name, pair, own.Certificate)
		} else {
			err = writePair(c.Folder, name, pair)
		}
		if err != nil {
			return err
		}
	}
	if !c.Secrets {
		out.Note("wrote certificates for %s to %s; they are valid until %s", strings.Join(names, ", "), c.Folder,
			time.Now().Add(c.Lifetime).UTC().Format(time.RFC3339))
	}
	return nil
}

// hostsOf returns the names in a certificate. The first is its owner's name, which services
// authorize. The others reach a service in a cluster and on one machine.
func (c *certsCommand) hostsOf(name string) []string {
	service := name + "." + c.Namespace
	return slices.Concat([]string{name, service, service + ".svc", service + ".svc.cluster.local", "localhost", "127.0.0.1"}, c.Hosts)
}

var errNoAuthority = errors.New("has neither ca.crt nor ca.key")

// authority loads the authority from the folder. Errors: errNoAuthority.
func (c *certsCommand) authority() (*devca.Authority, error) {
	certificate, certificateErr := os.ReadFile(filepath.Join(c.Folder, "ca.crt"))
	key, keyErr := os.ReadFile(filepath.Join(c.Folder, "ca.key"))
	if certificateErr == nil && keyErr == nil {
		loaded, err := devca.Load(devca.Pair{Certificate: certificate, Key: key})
		if err != nil {
			return nil, fmt.Errorf("ca.crt and ca.key in %s are not a usable certificate authority: %w", c.Folder, err)
		}
		return loaded, nil
	}
	if !errors.Is(certificateErr, fs.ErrNotExist) || !errors.Is(keyErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s needs both ca.crt and ca.key, readable, or neither of them: %w", c.Folder, errors.Join(certificateErr, keyErr))
	}
	return nil, fmt.Errorf("%s %w", c.Folder, errNoAuthority)
}

// newAuthority creates an authority in the folder.
func (c *certsCommand) newAuthority() (*devca.Authority, error) {
	made, err := devca.New("Waybook development", time.Now(), authorityLifetime)
	if err != nil {
		return nil, err
	}
	pair, err := made.Pair()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Folder, 0o750); err != nil {
		return nil, err
	}
	return made, writePair(c.Folder, "ca", pair)
}

// writePair writes both files of a pair, each atomically. Between the two writes, a program may see
// a certificate that does not match its key; it then waits for the other file.
func writePair(folder, name string, pair devca.Pair) error {
	for _, file := range []struct {
		name        string
		contents    []byte
		permissions fs.FileMode
	}{{name + ".key", pair.Key, 0o600}, {name + ".crt", pair.Certificate, 0o644}} {
		err := atomicfile.Write(filepath.Join(folder, file.name), file.permissions, func(out io.Writer) error {
			_, err := out.Write(file.contents)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// printSecret prints a Secret in the form that programs in a cluster mount. No namespace is printed:
// kubectl apply would remove the labels of the existing one, which say how secure its pods must be.
func (c *certsCommand) printSecret(out *output.Printer, name string, pair devca.Pair, authorities []byte) error {
	encoded, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata":   map[string]string{"name": "waybook-" + name + "-tls", "namespace": c.Namespace},
		"stringData": map[string]string{"tls.crt": string(pair.Certificate), "tls.key": string(pair.Key), "ca.crt": string(authorities)},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.Out, "---\n%s", encoded)
	return err
}

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
