package operations_test

import (
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybook/waybook/e2e/launch"
	"github.com/waybook/waybook/e2e/manifestrun"
)

// cluster is this machine as a cluster with the overlay single.
type cluster struct {
	t            *testing.T
	pods         map[string]manifestrun.Program
	certificates *launch.Certificates
	// volumes are the directories of the volumes, by claim.
	volumes map[string]string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	pods := manifestrun.Programs(t, "single", "")
	return &cluster{t, pods, launch.NewCertificates(t), map[string]string{"data-standalone-0": t.TempDir(), "backups": t.TempDir()}}
}

// place returns the arguments and the environment of a pod's program on this machine: with the
// directories of its volumes, the files of its certificate, and other addresses.
func (c *cluster) place(name string, addresses map[string]string) (args, environment []string) {
	pod := c.pods[name]
	local := func(value string) string {
		if address, ok := addresses[value]; ok {
			return address
		}
		if secret, ok := pod.Secrets[path.Dir(value)]; ok {
			owner := strings.TrimSuffix(strings.TrimPrefix(secret, "waybook-"), "-tls")
			c.certificates.Files(owner)
			return filepath.Join(c.certificates.Directory(owner), path.Base(value))
		}
		if claim, ok := pod.Claims[value]; ok {
			return c.volumes[claim]
		}
		return value
	}
	for _, argument := range pod.Args {
		if flag, value, has := strings.Cut(argument, "="); has {
			args = append(args, flag+"="+local(value))
		} else {
			args = append(args, local(argument))
		}
	}
	for variable, value := range pod.Environment {
		environment = append(environment, variable+"="+local(value))
	}
	return args, environment
}

func (c *cluster) start() *launch.Process {
	c.t.Helper()
	const any = "127.0.0.1:0"
	args, environment := c.place("standalone", map[string]string{":8080": any, ":9090": any, ":8081": any})
	return launch.Begin(c.t, filepath.Join(binaries, "standalone"), environment, args...).Ready()
}

// run runs the program of a CronJob's pod, or another command in its place.
func (c *cluster) run(name, grpc string, other ...string) result {
	c.t.Helper()
	args, environment := c.place(name, map[string]string{"standalone:9090": grpc})
	if len(other) > 0 {
		args = other
	}
	variables := map[string]string{}
	for _, each := range environment {
		name, value, _ := strings.Cut(each, "=")
		variables[name] = value
	}
	return runInProcess(c.t, variables, "", args...)
}

// The overlay single on this machine: a backup while the program serves, the loss of the store, and a
// restore, each as the manifests say.
func TestTheOverlaySingleBacksUpAndRestores(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	standalone := c.start()
	as := c.certificates.Files("operator")
	create := func(on *launch.Process, name string) (id string) {
		t.Helper()
		var user struct {
			ID json.Number `json:"user_id"`
		}
		operator{t, on.GRPC}.mustRead(&user, "user", "create", name, "--tls-cert", as.Certificate, "--tls-key", as.Key, "--tls-ca", as.Authorities)
		return user.ID.String()
	}
	before := create(standalone, "before the backup")

	c.run("backup", standalone.GRPC).expect(0)
	if lastBackup(t, standalone) == 0 {
		t.Error("the service does not know of the backup")
	}
	c.run("backup", standalone.GRPC, "user", "show", before).expect(4, "may not call")
	after := create(standalone, "after the backup")
	c.run("restore", "").expect(1, "stop it first")
	if status := standalone.End(syscall.SIGTERM); status != 0 {
		t.Fatalf("standalone ended with %d", status)
	}
	c.run("backup", standalone.GRPC).expect(5)
	c.volumes["data-standalone-0"] = t.TempDir() // the volume is lost
	c.run("restore", "").expect(0)

	again := c.start()
	if lastBackup(t, again) != 0 {
		t.Error("a new volume knows of a backup of the lost one")
	}
	show := func(id string) result {
		return operator{t, again.GRPC}.run("", "user", "show", id, "--tls-cert", as.Certificate, "--tls-key", as.Key, "--tls-ca", as.Authorities)
	}
	if told := show(before).expect(0).out; !strings.Contains(told, "before the backup") {
		t.Errorf("the user is %s", told)
	}
	show(after).expect(3)
	c.run("backup", again.GRPC).expect(0)
}
