package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// compileTags let a program know the time zones by itself, and leave out gRPC's pages for
// golang.org/x/net/trace, which nobody serves: they are templates, which may call any
// method by its name, so that the linker would have to keep all methods of all types, a
// fifth of a program.
const compileTags = "timetzdata,grpcnotrace"

// CompileFlags make a program that says nothing of where and when it was built, but which
// version it is.
func CompileFlags(version string) []string {
	return []string{
		"-trimpath", "-buildvcs=false", "-tags=" + compileTags,
		"-ldflags=-s -w -buildid= -X github.com/waybook/waybook/internal/platform/buildinfo.version=" + version,
	}
}

// Compile builds a version of the programs in some packages of the workspace at root for a
// platform, statically, into a directory.
func Compile(ctx context.Context, root, directory, version string, platform v1.Platform, packages ...string) error {
	directory, err := filepath.Abs(directory)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-o", directory + string(filepath.Separator)}, CompileFlags(version)...)
	command := exec.CommandContext(ctx, "go", append(args, packages...)...)
	command.Dir = root
	// GOAMD64 and GOARM64 are part of what is built; these are Go's defaults.
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=",
		"GOOS="+platform.OS, "GOARCH="+platform.Architecture, "GOAMD64=v1", "GOARM64=v8.0")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s for %s: %w\n%s", strings.Join(packages, " "), platform, err, output)
	}
	return nil
}
