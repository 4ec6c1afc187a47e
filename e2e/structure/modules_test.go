//go:build !race

package structure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	// What the program is made of, so that the test runs again when it changes, and so
	// that its dependencies are in the module cache.
	"github.com/waybook/waybook/internal/longform"
	_ "github.com/waybook/waybook/waybookctl/cli"
)

func TestProgramsAreInstalledAndContractsImportedByVersion(t *testing.T) {
	longform.Only(t)
	consumer := newConsumer(t, publish(t))

	consumer.run(t, "go", "install", published.Path+"/waybookctl@"+published.Version, published.Path+"/standalone@"+published.Version)
	for _, name := range []string{"waybookctl", "standalone"} {
		printed := consumer.run(t, consumer.binary(name), "--version")
		if want := name + " " + published.Version + " (commit unknown, go1."; !strings.HasPrefix(printed, want) {
			t.Errorf("%s --version printed %q, want %q…", name, printed, want)
		}
	}

	process := launch.Start(t, consumer.binary("standalone"), t.TempDir(), "-demo=false")
	if printed := consumer.run(t, consumer.binary("waybookctl"), "--address", process.GRPC, "user", "create", "Ann", "-o", "json"); !strings.Contains(printed, `"Ann"`) {
		t.Errorf("waybookctl user create printed %s", printed)
	}

	consumer.writeModule(t)
	consumer.run(t, "go", "build", "-mod=mod", "-o", consumer.binary("client"), ".")
	if printed := consumer.run(t, consumer.binary("client"), process.GRPC); printed != "created 小旅人, read 小旅人\n" {
		t.Errorf("the client printed %q", printed)
	}
}

// consumer is somebody who uses Waybook's modules and has no checkout of it.
type consumer struct {
	// directory is a module outside any workspace and programs is where programs go.
	directory, programs string
	environment         []string
}

func newConsumer(t *testing.T, proxy string) consumer {
	t.Helper()
	goEnv := func(name string) string {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(value))
	}
	c := consumer{directory: t.TempDir(), programs: t.TempDir()}
	// A module cache of its own, which may not keep this version. The dependencies come
	// from the tester's cache, whose content was checked against go.sum on its way in.
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "WAYBOOK_") {
			c.environment = append(c.environment, variable)
		}
	}
	c.environment = append(c.environment,
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(filepath.Join(goEnv("GOMODCACHE"), "cache", "download")),
		"GOSUMDB=off", "GONOPROXY=", "GOPRIVATE=", "GOMODCACHE="+t.TempDir(), "GOBIN="+c.programs, "GOWORK=off",
		// -modcacherw lets the test remove its module cache. With -trimpath, packages come
		// from the build cache although their directory is new.
		"GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0")
	return c
}

func (c consumer) binary(name string) string { return filepath.Join(c.programs, name) }

// run runs a command in the consumer's module and returns what it printed to standard output.
func (c consumer) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = c.directory, c.environment
	var failed strings.Builder
	command.Stderr = &failed
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, output, failed.String())
	}
	return string(output)
}

// writeModule writes the client's module, which requires Waybook and nothing else.
func (c consumer) writeModule(t *testing.T) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "client", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"main.go": string(source),
		"go.mod":  "module example.com/client\n\ngo 1.26.0\n\nrequire " + published.Path + " " + published.Version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(c.directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
