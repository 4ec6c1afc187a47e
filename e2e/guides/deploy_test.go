package guides_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/waybook/waybook/e2e/examples"
	"github.com/waybook/waybook/e2e/kubeapi"
	"github.com/waybook/waybook/e2e/manifestrun"
	"github.com/waybook/waybook/internal/longform"
	"github.com/waybook/waybook/internal/platform/devca"
	// What waybookctl is made of, so that these tests run again when it changes.
	_ "github.com/waybook/waybook/waybookctl/cli"
)

// desk is where an operator works: a copy of deploy/k8s, a home directory, and an empty cluster.
type desk struct {
	t         *testing.T
	directory string
	cluster   *kubeapi.Server
	// places replaces addresses of port-forward by those of the programs, once they run.
	places *strings.Replacer
}

// newDesk skips the test if a program that the guide uses is missing.
func newDesk(t *testing.T) *desk {
	t.Helper()
	for _, program := range []string{"kubectl", "bash", "curl", "openssl", "sed", "tr"} {
		examples.Need(t, program)
	}
	if version, err := exec.CommandContext(t.Context(), "kubectl", "version", "--client").CombinedOutput(); err != nil ||
		!strings.Contains(string(version), "Kustomize Version: v5") {
		t.Skipf("SKIPPED: kubectl is too old or fails (%v): %s", err, version)
	}
	d := &desk{t: t, directory: t.TempDir(), cluster: kubeapi.Start(t)}
	if err := os.CopyFS(filepath.Join(d.directory, "deploy", "k8s"), os.DirFS("../../deploy/k8s")); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		// The programs are built already; go run starts them.
		"go": "[ \"$1\" = run ]\nprogram=${2#./}\nshift 2\nexec \"$BINARIES/$program\" \"$@\"\n",
		// A clock that is a second later each time.
		"date": "echo . >>.seconds\nexec wc -l <.seconds\n",
	} {
		if err := os.WriteFile(filepath.Join(d.directory, name), []byte("#!/bin/sh\nset -eu\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// run runs commands in the environment that the commands before have left, and returns their output.
func (d *desk) run(commands string) (string, error) {
	d.t.Helper()
	if d.places != nil {
		commands = d.places.Replace(commands)
	}
	shell := exec.CommandContext(d.t.Context(), "bash", "-c",
		"set -euo pipefail\n[ ! -e .environment ] || . ./.environment\n"+commands+"\nexport -p >.environment\n")
	shell.Dir = d.directory
	shell.Env = []string{"HOME=" + d.directory, "PATH=" + d.directory + ":" + os.Getenv("PATH"), "BINARIES=" + binaries,
		"KUBECONFIG=" + d.cluster.Kubeconfig, "NO_PROXY=127.0.0.1", "GORACE=atexit_sleep_ms=0"}
	output, err := shell.CombinedOutput()
	return string(output), err
}

// must runs commands that must succeed.
func (d *desk) must(commands string) string {
	d.t.Helper()
	output, err := d.run(commands)
	if err != nil || strings.Contains(output, "ERROR") || strings.Contains(output, "FAILED") || strings.Contains(output, "Warning") {
		d.t.Fatalf("%s\n%v\n%s", commands, err, output)
	}
	return output
}

// startPrograms starts the programs of the manifests, with certificates of the authority that the guide
// has made, in place of kubectl port-forward.
func (d *desk) startPrograms() {
	d.t.Helper()
	if d.places != nil {
		return
	}
	var pair devca.Pair
	for name, content := range map[string]*[]byte{"ca.crt": &pair.Certificate, "ca.key": &pair.Key} {
		var err error
		if *content, err = os.ReadFile(filepath.Join(d.directory, ".waybook-certificates", name)); err != nil {
			d.t.Fatal(err)
		}
	}
	authority, err := devca.Load(pair)
	if err != nil {
		d.t.Fatal(err)
	}
	fleet := manifestrun.New(d.t, binaries, manifestrun.StoreEach)
	fleet.Certificates.Authority = authority
	for _, name := range append(manifestrun.Services(), "edge") {
		fleet.Certificates.Files(name)
	}
	fleet.StartAll(1)
	d.places = strings.NewReplacer("127.0.0.1:8080", fleet.Of("edge")[0].Address(), "127.0.0.1:9091", fleet.Of("account")[0].Address())
}

const namespace = "kubectl create namespace waybook --save-config\n"

func TestTheGuideWorksAsFarAsNoClusterIsNeeded(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	blocks, err := examples.Blocks("../../deploy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples.Need(t, "bash")
	var d *desk
	count := 0
	for _, block := range blocks {
		switch block.Language {
		case "sh":
		case "text", "yaml":
			continue
		case "sh cluster", "sh images", "sh registry", "sh release": // need a cluster; deploy/image and e2e/operations test the others
			if output, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", block.Text).CombinedOutput(); err != nil {
				t.Errorf("line %d: %v\n%s", block.Line, err, output)
			}
			continue
		default:
			t.Errorf("line %d: a block of the unsupported language %q", block.Line, block.Language)
			continue
		}
		if strings.HasPrefix(block.Text, namespace) {
			d = newDesk(t) // another installation begins
		}
		if strings.Contains(block.Text, "127.0.0.1:") {
			d.startPrograms()
		}
		t.Logf("line %d:\n%s", block.Line, d.must(block.Text))
		count++
	}
	if count < 8 {
		t.Errorf("the guide has %d blocks of commands", count)
	}
}

func TestCertificatesCanBeRenewedInTheNamespace(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	d := newDesk(t)
	const certificates = "go run ./waybookctl certs ~/.waybook-certificates --secrets | kubectl apply -f -\n"
	if output, err := d.run(certificates); err == nil || !strings.Contains(output, `namespaces "waybook" not found`) {
		t.Errorf("Secrets were applied without their namespace: %s", output)
	}
	d.must(namespace + certificates + "kubectl apply -k deploy/k8s/overlays/dev\n")
	before := d.only("Namespace").GetLabels()
	if before["pod-security.kubernetes.io/enforce"] != "restricted" || before["app.kubernetes.io/part-of"] != "waybook" {
		t.Fatalf("the namespace has the labels %v", before)
	}
	const read = "kubectl -n waybook get secret waybook-album-tls -o go-template='{{index .data \"tls.crt\"}}'\n"
	old := d.must(read)
	d.must(certificates)
	if d.must(read) == old {
		t.Error("the certificate is the old one")
	}
	if after := d.only("Namespace").GetLabels(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("renewed certificates left the namespace the labels %v of %v", after, before)
	}
}

// only returns the only object of a kind.
func (d *desk) only(kind string) *unstructured.Unstructured {
	d.t.Helper()
	all := d.cluster.All(kind)
	if len(all) != 1 {
		d.t.Fatalf("there are %d objects of the kind %s", len(all), kind)
	}
	return all[0]
}

func TestAReleaseIsAppliedWhileTheJobOfAnotherExists(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	d := newDesk(t)
	const file = "deploy/k8s/overlays/prod/kustomization.yaml"
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	d.must(namespace + "kubectl apply -k deploy/k8s/overlays/prod\n")
	for n, change := range []string{
		"true\n", // the same release again
		"sed -i 's/newTag: v0.0.0/newTag: v0.0.1/' " + file + "\n",
		"sed -i 's/newTag: v0.0.1/digest: " + digest + "/' " + file + "\n",
	} {
		d.must(change + "kubectl apply -k deploy/k8s/overlays/prod\n")
		if jobs := d.cluster.All("Job"); len(jobs) != n+1 {
			t.Errorf("after release %d there are %d Jobs", n, len(jobs))
		}
	}
	// The model refuses to change a Job, as a cluster does.
	job := d.cluster.All("Job")[0].GetName()
	output, err := d.run("kubectl -n waybook patch job " + job + ` -p '{"spec":{"template":{"spec":{"priorityClassName":"waybook"}}}}'`)
	if err == nil || !strings.Contains(output, "field is immutable") {
		t.Errorf("a Job was changed: %s", output)
	}
}

func TestNothingDiffersFromAnOverlayThatWasApplied(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	examples.Need(t, "diff")
	for _, overlay := range []string{"dev", "prod", "single"} {
		d := newDesk(t)
		d.must(namespace + "kubectl apply -k deploy/k8s/overlays/" + overlay + "\n")
		d.cluster.FinishJobs()
		if output, err := d.run("kubectl diff -k deploy/k8s/overlays/" + overlay + "\n"); err != nil {
			t.Errorf("%s: %v\n%s", overlay, err, output)
		}
		if output, err := d.run("sed -i 's/Asia.Taipei/UTC/' deploy/k8s/*/*/kustomization.yaml deploy/k8s/base/kustomization.yaml\n" +
			"kubectl diff -k deploy/k8s/overlays/" + overlay + "\n"); err == nil || !strings.Contains(output, "UTC") {
			t.Errorf("%s: a change of a setting makes no difference: %s", overlay, output)
		}
	}
}

func TestBackupsAndRestoresAreStartedAgain(t *testing.T) {
	t.Parallel()
	longform.Only(t)
	blocks, err := examples.Blocks("../../deploy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	d.must(namespace + "kubectl apply -k deploy/k8s/overlays/single\n")
	made := 0
	for _, block := range blocks {
		var commands string
		for line := range strings.Lines(strings.ReplaceAll(block.Text, "|\n", "| ")) {
			if strings.HasPrefix(line, "job=") || strings.Contains(line, "create job") {
				commands += line
			}
		}
		if commands != "" {
			d.must(commands)
			d.must(commands)
			made += 2
		}
	}
	if jobs := d.cluster.All("Job"); made < 6 || len(jobs) != made {
		t.Errorf("%d Jobs were made by %d commands", len(jobs), made)
	}
}
