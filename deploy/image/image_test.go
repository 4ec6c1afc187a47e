package image_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/waybook/waybook/deploy/image"
	"github.com/waybook/waybook/internal/longform"
)

const root = "../.."

// version is the version that the tests build, and commit its commit.
const version, commit = "v1.2.3", "0123456789abcdef0123456789abcdef01234567"

var revision = image.Revision{Version: version, Commit: commit}

var amd64 = v1.Platform{OS: "linux", Architecture: "amd64"}

// checkout copies the sources of the workspace to another directory.
func checkout(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (name == "testdata" || name == "waybook-data" || strings.HasPrefix(name, ".") && relative != "."):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(directory, relative), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(directory, relative), content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// archive runs a command line and returns the archive of the edge that it wrote.
func archive(root string) (content []byte, err error) {
	out, err := os.MkdirTemp("", "waybook-archive")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	args := []string{"-root", root, "-out", out, "-commit", commit, "-programs", "edge"}
	if err := image.Main(context.Background(), args, noEnv, io.Discard); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(out, "edge.tar"))
}

// archived is the archive of the edge, which is built once for all tests.
var archived = sync.OnceValues(func() ([]byte, error) { return archive(root) })

func noEnv(string) (string, bool) { return "", false }

func TestAnArchiveIsTheSameWhereverItIsBuilt(t *testing.T) {
	longform.Only(t)
	here, err := archived()
	if err != nil {
		t.Fatal(err)
	}
	there, err := archive(checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(here) != sha256.Sum256(there) {
		t.Error("the archives differ")
	}
}

func TestAnArchiveIsAnOCILayoutWithItsName(t *testing.T) {
	longform.Only(t)
	directory := t.TempDir()
	content, err := archived()
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(directory, header.Name)
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var content []byte
			if content, err = io.ReadAll(reader); err == nil {
				err = os.WriteFile(path, content, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	index, err := layout.ImageIndexFromPath(directory)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if name := manifest.Manifests[0].Annotations["io.containerd.image.name"]; name != "docker.io/waybook/edge:dev" {
		t.Errorf("the image is named %q", name)
	}
}

func TestAnImageRunsItsProgramWithoutPrivileges(t *testing.T) {
	longform.Only(t)
	executable := compiled(t, "edge")
	program := image.Programs()[0]
	made, err := image.New(program, executable, amd64, revision, time.Unix(0, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	config, err := made.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := config.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/waybook"}) || c.WorkingDir != "/data" ||
		c.Labels["org.opencontainers.image.title"] != "edge" || c.Labels["org.opencontainers.image.version"] != version || c.Labels["org.opencontainers.image.revision"] != commit {
		t.Errorf("configured as %+v", c)
	}
	if config.OS != "linux" || config.Architecture != "amd64" {
		t.Errorf("for %s/%s", config.OS, config.Architecture)
	}
	layers, err := made.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers: %v", len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for reader := tar.NewReader(content); ; {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		if header.ModTime.Unix() != 0 || header.Uname != "" || (header.Uid == image.User) != (header.Name == "data/") {
			t.Errorf("%s has time %v and owner %d", header.Name, header.ModTime, header.Uid)
		}
	}
	if !bytes.Equal(files["waybook"], executable) {
		t.Error("the image has another program")
	}
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(files["etc/ssl/certs/ca-certificates.crt"]) {
		t.Error("the image has no certificate authorities")
	}
}

func TestUnpackedFilesAreThoseOfTheImage(t *testing.T) {
	longform.Only(t)
	directory := filepath.Join(t.TempDir(), "image")
	args := []string{"-root", root, "-programs", "edge", "-unpack", directory}
	if err := image.Main(t.Context(), args, noEnv, io.Discard); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{
		".": fs.ModeDir | 0o755, "data": fs.ModeDir | 0o700, "etc/ssl/certs/ca-certificates.crt": 0o644, "waybook": 0o755,
	} {
		info, err := os.Stat(filepath.Join(directory, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != mode || name != "." && info.ModTime().Unix() != 0 {
			t.Errorf("%s: %v of %v", name, info.Mode(), info.ModTime())
		}
	}
}

func TestAnInvalidCommandLineIsRefused(t *testing.T) {
	for _, args := range [][]string{
		{"-platforms", "windows/amd64"},
		{"-platforms", "linux"},
		{"-tag", "v1 -X main.x=1"},
		{"-programs", "album,albums"},
		{"-unpack", "x"},
		{"-unpack", "x", "-programs", "album", "-platforms", "linux/amd64,linux/arm64"},
	} {
		if err := image.Main(context.Background(), args, noEnv, io.Discard); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
	bad := func(string) (string, bool) { return "yesterday", true }
	if err := image.Main(t.Context(), []string{"-list"}, bad, io.Discard); err == nil {
		t.Error("a bad SOURCE_DATE_EPOCH was accepted")
	}
}

// The Dockerfile takes the files from this package; its own settings must agree.
func TestTheDockerfileMakesTheSameImage(t *testing.T) {
	content, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, final, found := strings.Cut(string(content), "FROM scratch\n")
	if !found {
		t.Fatal("the Dockerfile does not start from scratch")
	}
	for _, line := range []string{
		"COPY --from=build /image/ /",
		"COPY --from=build --chown=65532:65532 --chmod=700 /image/data " + image.WorkingDirectory,
		"USER 65532:65532",
		"WORKDIR " + image.WorkingDirectory,
		`ENTRYPOINT ["` + image.Executable + `"]`,
	} {
		if !strings.Contains(final, line+"\n") {
			t.Errorf("the Dockerfile lacks %s", line)
		}
	}
	for label := range image.Programs()[0].Labels(image.Revision{}) {
		if !strings.Contains(final, label+"=$") {
			t.Errorf("the Dockerfile lacks the label %s", label)
		}
	}
}
