// Package image builds the container images of Waybook's programs without a container engine. The
// images are the same, byte for byte, on every machine.
package image

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Program is a program that has an image.
type Program struct {
	// Name is the name of the program; "waybook/" and it are the name of the image.
	Name string
	// Package is the path of its main package, relative to the workspace.
	Package string
	// Summary is the description in the image's label.
	Summary string
}

// Programs returns all programs that have an image.
func Programs() []Program {
	return []Program{
		{"edge", "./edge/cmd/edge", "The XML edge of Waybook"},
		{"account", "./services/account/cmd/account", "The account service of Waybook"},
		{"album", "./services/album/cmd/album", "The album service of Waybook"},
		{"blog", "./services/blog/cmd/blog", "The blog service of Waybook"},
		{"poi", "./services/poi/cmd/poi", "The landmark service of Waybook"},
		{"standalone", "./standalone", "All of Waybook in one process"},
		{"waybookctl", "./waybookctl", "The command line for operators of Waybook"},
	}
}

// Repository returns the image's name without a tag.
func (p Program) Repository() string { return "waybook/" + p.Name }

// compileTags embed the time zones and leave out gRPC's pages for golang.org/x/net/trace, which no
// program serves. Those pages are templates, and a template may call any method by name. With them,
// the linker would keep all methods of all types, a fifth of a program.
const compileTags = "timetzdata,grpcnotrace"

// Revision is what programs and images say of themselves.
type Revision struct {
	// Version is the version, which is also the tag of images.
	Version string
	// Commit is the full hash of the commit; empty if it is not known.
	Commit string
}

// CompileFlags make a build reproducible: the program contains its revision, but not where or when
// it was built.
func CompileFlags(of Revision) []string {
	const linked = " -X github.com/waybook/waybook/internal/platform/buildinfo."
	return []string{
		"-trimpath", "-buildvcs=false", "-tags=" + compileTags,
		"-ldflags=-s -w -buildid=" + linked + "version=" + of.Version + linked + "commit=" + of.Commit,
	}
}

// Compile builds programs statically for a platform and writes them to directory. packages are
// packages of the workspace at root.
func Compile(ctx context.Context, root, directory string, of Revision, platform v1.Platform, packages ...string) error {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-o", directory + string(filepath.Separator)}, CompileFlags(of)...)
	command := exec.CommandContext(ctx, "go", append(args, packages...)...)
	command.Dir = root
	// GOAMD64 and GOARM64 affect the build; these are Go's defaults.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=",
		"GOOS="+platform.OS, "GOARCH="+platform.Architecture, "GOAMD64=v1", "GOARM64=v8.0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s for %s: %w\n%s", strings.Join(packages, " "), platform, err, output)
	}
	return nil
}
