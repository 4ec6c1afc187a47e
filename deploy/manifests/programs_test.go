package manifests_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybook/waybook/deploy/image"
)

// startable are the programs that pods run, except waybookctl, which has another kind of command
// line.
var startable = []string{"edge", "account", "album", "blog", "poi"}

// programs is where e2e/launch keeps the programs that are up to date; Git ignores it.
const programs = "../../.bin/programs"

// compileAll compiles all programs once for all tests, with the flags of e2e/launch. They have a build ID, unlike
// those of images, so go build links only those that have changed.
var compileAll = sync.OnceValue(func() error {
	if err := os.MkdirAll(programs, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(programs, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	if err == nil {
		args := []string{"build", "-buildvcs=false", "-ldflags=-w", "-o", programs + string(filepath.Separator)}
		for _, p := range image.Programs() {
			args = append(args, path.Join("github.com/waybook/waybook", p.Package))
		}
		var output []byte
		if output, err = exec.Command("go", args...).CombinedOutput(); err != nil {
			err = fmt.Errorf("build the programs: %w\n%s", err, output)
		}
	}
	return errors.Join(err, lock.Close())
})

// compiled returns the path of a program.
func compiled(t *testing.T, name string) string {
	t.Helper()
	if err := compileAll(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(programs, name)
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
