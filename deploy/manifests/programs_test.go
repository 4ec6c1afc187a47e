package manifests_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/waybook/waybook/deploy/image"
)

// startable are the programs that pods run, except waybookctl, which has another kind of command
// line.
var startable = []string{"edge", "account", "album", "blog", "poi"}

// directory is where compileAll puts the programs.
var directory string

func TestMain(m *testing.M) {
	var err error
	if directory, err = os.MkdirTemp("", "waybook-manifests"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := os.RemoveAll(directory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// compileAll compiles all programs as in the images, once for all tests.
var compileAll = sync.OnceValue(func() error {
	var packages []string
	for _, p := range image.Programs() {
		packages = append(packages, p.Package)
	}
	here := v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	return image.Compile(context.Background(), "../..", directory, image.Revision{Version: "test"}, here, packages...)
})

// compiled returns the path of a program as in its image.
func compiled(t *testing.T, name string) string {
	t.Helper()
	if err := compileAll(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(directory, name)
}

// accepted reports whether a program accepts the flags of its container. -help is the last flag, so
// the program parses all of them and then exits.
func accepted(c *cluster, executable string, container *corev1.Container) (string, bool) {
	var args []string
	for flag, value := range c.flags(container) {
		args = append(args, "-"+flag+"="+value)
	}
	command := exec.Command(executable, append(args, "-help")...)
	command.Env = []string{}
	output, err := command.CombinedOutput()
	return string(output), err == nil
}

func TestTheProgramsAcceptTheirFlags(t *testing.T) {
	for _, v := range variants() {
		c, err := decode(v, render(t, v))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range startable {
			if output, ok := accepted(c, compiled(t, name), c.program(name)); !ok {
				t.Errorf("%v: %s: %s", v, name, output)
			}
		}
	}

	v := variant{overlay: "dev"}
	documents := render(t, v)
	for name, mutate := range map[string]func(*cluster){
		"an unknown flag": func(c *cluster) { c.program("blog").Args[0] = "-rpc=:9093" },
		"a flag of another program": func(c *cluster) {
			c.program("blog").Env = append(c.program("blog").Env, corev1.EnvVar{Name: "WAYBOOK_SESSION_TTL", Value: "1h"})
		},
		"a setting that does not parse": func(c *cluster) {
			for _, settings := range c.configMaps {
				if settings.Data["WAYBOOK_REWARD"] != "" {
					settings.Data["WAYBOOK_REWARD"] = "ten"
				}
			}
		},
		"an unknown variable": func(c *cluster) {
			c.program("blog").Env = append(c.program("blog").Env, corev1.EnvVar{Name: "MONGODB_URL", Value: "x"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := decode(v, documents)
			if err != nil {
				t.Fatal(err)
			}
			mutate(c)
			if output, ok := accepted(c, compiled(t, "blog"), c.program("blog")); ok {
				t.Errorf("it was accepted: %s", output)
			}
		})
	}
}

func TestTheJobsCommandExists(t *testing.T) {
	executable := compiled(t, "waybookctl")
	v := variant{overlay: "prod"}
	c, err := decode(v, render(t, v))
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range c.jobs {
		c.expectCommand(t, executable, &job.Spec.Template.Spec.Containers[0])
	}
}

// expectCommand expects that waybookctl has the command of a container, with its flags.
func (c *cluster) expectCommand(t *testing.T, executable string, container *corev1.Container) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), executable, append(slices.Clone(container.Args), "--help")...).CombinedOutput()
	if err != nil {
		t.Errorf("waybookctl %v: %v\n%s", container.Args, err, output)
	}
	for flag := range c.flags(container) {
		if !strings.Contains(string(output), "--"+flag) {
			t.Errorf("waybookctl %v has no --%s:\n%s", container.Args, flag, output)
		}
	}
}

// ofOthers reports whether a variable is that of Go's runtime, or of Amazon's tools.
func ofOthers(variable string) bool {
	return variable == "GOMEMLIMIT" || variable == "GOMAXPROCS" || strings.HasPrefix(variable, "AWS_")
}

// flags returns the flags of a container's program, from its arguments and its environment.
func (c *cluster) flags(container *corev1.Container) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, argument := range container.Args {
			name, value, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
			if strings.HasPrefix(argument, "-") && !yield(name, value) {
				return
			}
		}
		for _, from := range container.EnvFrom {
			for _, settings := range c.configMaps {
				if settings.Name != from.ConfigMapRef.Name {
					continue
				}
				for name, value := range settings.Data {
					if !ofOthers(name) && !yield(flagOf(name), value) {
						return
					}
				}
			}
		}
		for _, variable := range container.Env {
			value := variable.Value
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				value = fmt.Sprintf("<%s of %s>", variable.ValueFrom.SecretKeyRef.Key, variable.ValueFrom.SecretKeyRef.Name)
			}
			if !ofOthers(variable.Name) && !yield(flagOf(variable.Name), value) {
				return
			}
		}
	}
}

// flagOf returns the flag that an environment variable sets.
func flagOf(variable string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "WAYBOOK_"), "_", "-"))
}
