package image

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Labels returns the labels of the program's image.
func (p Program) Labels(of Revision) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       p.Name,
		"org.opencontainers.image.description": p.Summary,
		"org.opencontainers.image.version":     of.Version,
		"org.opencontainers.image.revision":    of.Commit,
	}
}

// New returns the image of a program compiled for a platform.
func New(p Program, executable []byte, platform v1.Platform, of Revision, when time.Time) (v1.Image, error) {
	var files bytes.Buffer
	if err := NewFiles(executable).Archive(&files, when); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Variant: platform.Variant,
		Created: v1.Time{Time: when},
		RootFS:  v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{Executable},
			User:       fmt.Sprintf("%d:%d", User, User),
			WorkingDir: WorkingDirectory,
			Labels:     p.Labels(of),
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: when}, CreatedBy: "deploy/image"}})
}

// Builder builds images from the sources of a workspace.
type Builder struct {
	// Root is the directory of the workspace.
	Root      string
	Platforms []v1.Platform
	// Revision is that of the programs and the images.
	Revision
	// When is the time of all files in the images.
	When time.Time
}

// Build compiles a program for each platform and returns one image for all platforms.
func (b Builder) Build(ctx context.Context, p Program) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range b.Platforms {
		executable, err := b.compile(ctx, p, platform)
		if err != nil {
			return nil, err
		}
		image, err := New(p, executable, platform, b.Revision, b.When)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return index, nil
}

func (b Builder) compile(ctx context.Context, p Program, platform v1.Platform) ([]byte, error) {
	directory, err := os.MkdirTemp("", "waybook-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	if err := Compile(ctx, b.Root, directory, b.Revision, platform, p.Package); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(directory, p.Name))
}
