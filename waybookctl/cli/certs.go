package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	Secrets   bool          `help:"Also print the certificates as Kubernetes Secrets."`
	Authority string        `placeholder:"FOLDER" help:"Folder of the certificate authority, if it is another one, which must have it."`
	File      string        `placeholder:"NAME" help:"Name of the files of a single certificate, such as tls, in place of its own."`
}

func (*certsCommand) Help() string {
	return `The certificates are for development: the authority's key is in a file beside them. Give each program its own with
--tls-cert NAME.crt --tls-key NAME.key --tls-ca ca.crt. In a development cluster, pods mount the Secrets waybook-NAME-tls:

    waybookctl certs certs --secrets | kubectl apply -f -

Run the command again to issue new certificates from the same authority. Programs load changed files without a restart.`
}

func (c *certsCommand) Run(out *output.Printer) error {
	if c.Lifetime <= 0 {
		return usageError("--lifetime must be greater than 0")
	}
	names := c.Names
	if len(names) == 0 {
		names = processes
	}
	if c.File != "" && len(names) != 1 {
		return usageError("--file names the files of one certificate; give one of --names")
	}
	issuer, err := c.authority()
	if err != nil {
		return err
	}
	own, err := issuer.Pair()
	if err != nil {
		return err
	}
	if c.Authority != "" {
		if err := errors.Join(os.MkdirAll(c.Folder, 0o750),
			write(c.Folder, "ca.crt", 0o644, own.Certificate)); err != nil {
			return err
		}
	}
	for _, name := range names {
		pair, err := issuer.Issue(c.hostsOf(name), time.Now(), c.Lifetime)
		if err != nil {
			return err
		}
		if err := writePair(c.Folder, cmp.Or(c.File, name), pair); err != nil {
			return err
		}
		if !c.Secrets {
			continue
		}
		if err := c.printSecret(out, name, pair, own.Certificate); err != nil {
			return err
		}
	}
	out.Note("wrote certificates for %s to %s; they are valid until %s", strings.Join(names, ", "), c.Folder,
		time.Now().Add(c.Lifetime).UTC().Format(time.RFC3339))
	return nil
}

// hostsOf returns the names in a certificate. The first is its owner's name, which services
// authorize. The others reach a service in a cluster and on one machine.
func (c *certsCommand) hostsOf(name string) []string {
	service := name + "." + c.Namespace
	return slices.Concat([]string{name, service, service + ".svc", service + ".svc.cluster.local", "localhost",
		"127.0.0.1"}, c.Hosts)
}

// authority loads the authority from its folder, or creates it in that of the certificates.
func (c *certsCommand) authority() (*devca.Authority, error) {
	folder := cmp.Or(c.Authority, c.Folder)
	certificate, certificateErr := os.ReadFile(filepath.Join(folder, "ca.crt"))
	key, keyErr := os.ReadFile(filepath.Join(folder, "ca.key"))
	if certificateErr == nil && keyErr == nil {
		loaded, err := devca.Load(devca.Pair{Certificate: certificate, Key: key})
		if err != nil {
			return nil, fmt.Errorf("ca.crt and ca.key in %s are not a usable certificate authority: %w", folder, err)
		}
		return loaded, nil
	}
	if c.Authority != "" || !errors.Is(certificateErr, fs.ErrNotExist) || !errors.Is(keyErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s needs both ca.crt and ca.key, readable: %w", folder,
			errors.Join(certificateErr, keyErr))
	}
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

// writePair writes both files of a pair, each atomically. Between the two writes, a program may
// see a certificate that does not match its key; it then waits for the other file.
func writePair(folder, name string, pair devca.Pair) error {
	for _, file := range []struct {
		name        string
		contents    []byte
		permissions fs.FileMode
	}{{name + ".key", pair.Key, 0o600}, {name + ".crt", pair.Certificate, 0o644}} {
		if err := write(folder, file.name, file.permissions, file.contents); err != nil {
			return err
		}
	}
	return nil
}

func write(folder, name string, permissions fs.FileMode, contents []byte) error {
	return atomicfile.Write(filepath.Join(folder, name), permissions, func(out io.Writer) error {
		_, err := out.Write(contents)
		return err
	})
}

// printSecret prints a Secret in the form that programs in a cluster mount. No namespace is
// printed: kubectl apply would remove the labels of the existing one, which say how secure its
// pods must be.
func (c *certsCommand) printSecret(out *output.Printer, name string, pair devca.Pair, authorities []byte) error {
	encoded, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]string{"name": "waybook-" + name + "-tls", "namespace": c.Namespace},
		"stringData": map[string]string{"tls.crt": string(pair.Certificate), "tls.key": string(pair.Key),
			"ca.crt": string(authorities)},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.Out, "---\n%s", encoded)
	return err
}
