package manifests_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// programs is where e2e/launch keeps the programs that are up to date; Git ignores it.
const programs = "../../.bin/programs"

// build builds the programs, with the flags of e2e/launch.
func build(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(programs, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(programs, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-buildvcs=false", "-ldflags=-w", "-o", programs + "/"}
	for _, name := range []string{"edge/cmd/edge", "services/account/cmd/account", "services/album/cmd/album",
		"services/blog/cmd/blog", "services/poi/cmd/poi", "standalone", "waybookctl"} {
		args = append(args, "github.com/waybook/waybook/"+name)
	}
	if output, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// run runs the program of a container with its arguments and its environment, in which the paths of a pod are those
// of this machine.
func run(c *cluster, container *corev1.Container, here *strings.Replacer, more ...string) (string, error) {
	program, _ := ours(container.Image)
	var args []string
	for _, argument := range container.Args {
		args = append(args, here.Replace(argument))
	}
	command := exec.Command(filepath.Join(programs, program), append(args, more...)...)
	command.Env = []string{}
	for name, value := range c.environment(container, "mongodb://db.example/waybook") {
		command.Env = append(command.Env, name+"="+here.Replace(value))
	}
	output, err := command.CombinedOutput()
	return string(output), err
}

// Each program gets the certificate that its pod makes in the overlay dev, and checks its settings.
func TestTheProgramsAcceptTheirSettings(t *testing.T) {
	build(t)
	tls := t.TempDir()
	here := strings.NewReplacer("/etc/waybook/tls", tls, "=/data", "="+t.TempDir(), "/authority", "../k8s/overlays/dev/authority")
	accepts := func(c *cluster, w workload) (string, error) {
		last := "-check"
		if program, _ := ours(w.pod.Containers[0].Image); program == "waybookctl" {
			last = "--help" // it has another kind of command line, which it parses until then
		}
		return run(c, &w.pod.Containers[0], here, last)
	}
	for _, v := range variants() { // dev is the first
		c := decoded(t, v)
		for _, w := range c.workloads() {
			if first := w.pod.InitContainers; len(first) > 0 && first[0].Name == "certificate" {
				first[0].Args[3] = strings.Replace(first[0].Args[3], "$(PROGRAM)", w.name, 1)
				if output, err := run(c, &first[0], here); err != nil {
					t.Fatalf("%v: %s: %v\n%s", v, w.name, err, output)
				}
			}
			if _, is := ours(w.pod.Containers[0].Image); !is {
				continue
			}
			if output, err := accepts(c, w); err != nil {
				t.Errorf("%v: %s: %v\n%s", v, w.name, err, output)
			}
		}
	}
	c := decoded(t, variant{overlay: "dev"})
	blog := c.workload("blog")
	for _, mistake := range []string{"-rpc=:9093", "-session-ttl=1h", "-reward=ten"} {
		blog.pod.Containers[0].Args = []string{mistake}
		if output, err := accepts(c, blog); err == nil {
			t.Errorf("%s was accepted: %s", mistake, output)
		}
	}
}
