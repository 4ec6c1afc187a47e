package image

import (
	"archive/tar"
	"context"
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
)

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
