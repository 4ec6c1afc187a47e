package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/waybook/waybook/internal/platform/devca"
	"github.com/waybook/waybook/waybookctl/output"
)

// processes are the names of those who have a certificate.
var processes = []string{"account", "album", "blog", "poi", "edge", "operator"}

// authorityLifetime is how long an authority for development lasts.
const authorityLifetime = 10 * 365 * 24 * time.Hour

type certsCommand struct {
	Folder    string        `arg:"" help:"Where the authority is kept, made when missing, and the certificates go."`
	Names     []string      `placeholder:"NAME" help:"Whose certificates; account, album, blog, poi, edge and operator, if not given."`
	Hosts     []string      `placeholder:"HOST" help:"Further names or addresses by which each of them is reached."`
	Namespace string        `default:"waybook" placeholder:"NAMESPACE" help:"The Kubernetes namespace, ${default} by default, which --secrets prints too."`
	Lifetime  time.Duration `default:"2160h" placeholder:"DURATION" help:"How long the certificates last, ${default} by default."`
	Secrets   bool          `help:"Print the certificates as Kubernetes Secrets, instead of writing files."`
}

// Help says what for.
func (*certsCommand) Help() string {
	return `The certificates are for development: the authority's key lies in a file beside them. Each program takes its own as
--tls-cert NAME.crt --tls-key NAME.key --tls-ca ca.crt, or from the Secret waybook-NAME-tls:

    waybookctl certs certs --secrets | kubectl apply -f -

Run again it makes new certificates by the same authority; programs take changed files up without a restart.`
}

// Run makes certificates.
func (c *certsCommand) Run(out *output.Printer) error {
	if c.Lifetime <= 0 {
		return usageError("--lifetime must be longer than nothing")
	}
	names := c.Names
	if len(names) == 0 {
		names = processes
	}
	issuer, err := c.authority()
	if err != nil {
		return err
	}
	own, err := issuer.Pair()
	if err != nil {
		return err
	}
	if c.Secrets {
		if _, err := fmt.Fprintf(out.Out, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n", c.Namespace); err != nil {
			return err
		}
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
		out.Note("certificates of %s are in %s; they last until %s", strings.Join(names, ", "), c.Folder,
			time.Now().Add(c.Lifetime).UTC().Format(time.RFC3339))
	}
	return nil
}

// hostsOf are the names in a certificate: its owner's own first, by which it is allowed,
// then those by which a service is called in a cluster and on one machine.
func (c *certsCommand) hostsOf(name string) []string {
	service := name + "." + c.Namespace
	return slices.Concat([]string{name, service, service + ".svc", service + ".svc.cluster.local", "localhost", "127.0.0.1"}, c.Hosts)
}

// authority reads the authority of the folder, or makes one.
func (c *certsCommand) authority() (*devca.Authority, error) {
	certificate, certificateErr := os.ReadFile(filepath.Join(c.Folder, "ca.crt"))
	key, keyErr := os.ReadFile(filepath.Join(c.Folder, "ca.key"))
	if certificateErr == nil && keyErr == nil {
		loaded, err := devca.Load(devca.Pair{Certificate: certificate, Key: key})
		if err != nil {
			return nil, fmt.Errorf("ca.crt and ca.key in %s are no authority that can be used: %w", c.Folder, err)
		}
		return loaded, nil
	}
	if !errors.Is(certificateErr, fs.ErrNotExist) || !errors.Is(keyErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has one of ca.crt and ca.key and not the other, or they can't be read: %w", c.Folder, errors.Join(certificateErr, keyErr))
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

// writePair writes both files of a pair, each whole or not at all. Between the two a
// program may see a certificate that does not fit its key, and waits for the other.
func writePair(folder, name string, pair devca.Pair) error {
	for _, file := range []struct {
		name        string
		contents    []byte
		permissions fs.FileMode
	}{{name + ".key", pair.Key, 0o600}, {name + ".crt", pair.Certificate, 0o644}} {
		path := filepath.Join(folder, file.name)
		if err := os.WriteFile(path+".new", file.contents, file.permissions); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// printSecret prints a Secret of the kind that programs in a cluster mount.
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
