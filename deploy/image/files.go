package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// User is the user and group ID of the programs. It owns only WorkingDirectory.
const User = 65532

// Executable is the path of the program, the same in all images.
const Executable = "/waybook"

// WorkingDirectory is the directory of an embedded store.
const WorkingDirectory = "/data"

// file is a file or directory of an image.
type file struct {
	path    string // without the leading slash
	mode    fs.FileMode
	owner   int
	content []byte
}

// Files are the contents of an image: a program, the public certificate authorities, and a
// directory for data.
type Files []file

// NewFiles returns the files of an image for a compiled program.
func NewFiles(executable []byte) Files {
	return Files{
		{path: WorkingDirectory[1:], mode: fs.ModeDir | 0o700, owner: User},
		{path: "etc", mode: fs.ModeDir | 0o755},
		{path: "etc/ssl", mode: fs.ModeDir | 0o755},
		{path: "etc/ssl/certs", mode: fs.ModeDir | 0o755},
		{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: authorities()},
		{path: Executable[1:], mode: 0o755, content: executable},
	}
}

// authorities are Mozilla's, as of the module version in go.mod. Authorities with constraints are
// left out, because a PEM file cannot express the constraints.
func authorities() []byte {
	var encoded bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			encoded.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return encoded.Bytes()
}

// Archive writes the files as a tar archive. All have the same time.
func (f Files) Archive(w io.Writer, when time.Time) error {
	archive := tar.NewWriter(w)
	for _, file := range f {
		header := &tar.Header{
			Name: file.path, Mode: int64(file.mode.Perm()), Uid: file.owner, Gid: file.owner,
			Size: int64(len(file.content)), ModTime: when, Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if file.mode.IsDir() {
			header.Name, header.Typeflag = file.path+"/", tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("%s: %w", file.path, err)
		}
		if _, err := archive.Write(file.content); err != nil {
			return fmt.Errorf("%s: %w", file.path, err)
		}
	}
	return archive.Close()
}

// Unpack writes the files below a directory for a container engine to copy. The engine sets their
// owners.
func (f Files) Unpack(directory string, when time.Time) error {
	if err := os.MkdirAll(directory, 0o755); err != nil { // #nosec G301 -- an engine that runs as another user reads it
		return err
	}
	for _, file := range f {
		path := filepath.Join(directory, file.path)
		var err error
		if file.mode.IsDir() {
			err = os.MkdirAll(path, file.mode.Perm())
		} else {
			err = os.WriteFile(path, file.content, file.mode.Perm())
		}
		if err != nil {
			return err
		}
		if err := os.Chmod(path, file.mode.Perm()); err != nil { // independent of the umask
			return err
		}
	}
	for _, file := range f { // last, because writing a file changes its directory's time
		if err := os.Chtimes(filepath.Join(directory, file.path), when, when); err != nil {
			return err
		}
	}
	return nil
}

// WriteArchive writes an image as an OCI archive, with the name that Kubernetes uses for it. `ctr
// images import`, `kind load image-archive` and `podman load` accept the archive.
func WriteArchive(w io.Writer, index v1.ImageIndex, p Program, tag string, when time.Time) error {
	directory, err := os.MkdirTemp("", "waybook-archive-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	named := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: index, Descriptor: v1.Descriptor{
		Annotations: map[string]string{
			"io.containerd.image.name":          "docker.io/" + p.Repository() + ":" + tag,
			"org.opencontainers.image.ref.name": tag,
		},
	}})
	if _, err := layout.Write(directory, named); err != nil {
		return fmt.Errorf("layout of %s: %w", p.Name, err)
	}
	return archive(w, directory, when)
}

// archive writes the files below a directory, ordered by name.
func archive(w io.Writer, directory string, when time.Time) error {
	out := tar.NewWriter(w)
	root := os.DirFS(directory)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		header := &tar.Header{Name: path + "/", Mode: 0o755, ModTime: when, Typeflag: tar.TypeDir, Format: tar.FormatPAX}
		if entry.IsDir() {
			return out.WriteHeader(header)
		}
		content, err := os.ReadFile(filepath.Join(directory, path))
		if err != nil {
			return err
		}
		header.Name, header.Mode, header.Typeflag, header.Size = path, 0o644, tar.TypeReg, int64(len(content))
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err = out.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}

// push builds an image, pushes it to the registry, and prints the entry of a kustomization that
// selects it by digest. Credentials come from where docker and podman keep them. A registry on
// loopback is reached without TLS.
func (r request) push(ctx context.Context, p Program, out io.Writer) error {
	tag, err := name.NewTag(r.registry + "/" + p.Repository() + ":" + r.Version)
	if err != nil {
		return fmt.Errorf("-push: %w", err)
	}
	index, err := r.Build(ctx, p)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "  - {name: %s, newName: %s, digest: %q} # %s\n", p.Repository(), tag.Context().Name(), digest, r.Version)
	return err
}
