package image

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
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
