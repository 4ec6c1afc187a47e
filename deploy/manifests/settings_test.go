package manifests_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/deploy/rendered"
)

// edit is a change that deploy/README.md asks an operator to make: the text of a file of deploy/k8s,
// and its replacement.
type edit struct{ file, old, new string }

// edited renders a variant of manifests that an operator has edited.
func edited(t *testing.T, v variant, edits ...edit) [][]byte {
	t.Helper()
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS(kustomizations)); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		path := filepath.Join(directory, e.file)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.ReplaceAll(string(content), e.old, e.new)
		if changed == string(content) {
			t.Fatalf("%s has no %q", e.file, e.old)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	documents, err := rendered.Overlay(directory, v.overlay, v.components...)
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

const prodFile = "overlays/prod/kustomization.yaml"

func TestTheNamespaceThePortAndTheRunbooksCanBeChosen(t *testing.T) {
	for _, v := range []variant{
		{overlay: "prod", namespace: "pictures"},
		{overlay: "prod", namespace: "pictures", components: []string{"gateway-api", "priority", "pull-secret", "tracing"}},
	} {
		t.Run(v.String(), func(t *testing.T) {
			documents := edited(t, v,
				edit{prodFile, "namespace: waybook", "namespace: pictures"},
				edit{"overlays/prod/port.yaml", "8080", "80"},
				edit{"components/monitoring/kustomization.yaml", "https://github.com/waybook/waybook/blob/main/docs/operations.md",
					"https://wiki.example.com/waybook"},
			)
			c, err := decode(v, documents)
			if err != nil {
				t.Fatal(err)
			}
			for name, check := range checks() {
				for _, complaint := range complaints(check, c) {
					t.Errorf("%s: %s", name, complaint)
				}
			}
			if port := c.service("edge").Spec.Ports[0].Port; port != 80 {
				t.Errorf("the port is %d", port)
			}
			if link := c.rules[0].Spec.Groups[0].Rules[0].Annotations["runbook_url"]; link != "https://wiki.example.com/waybook#waybooktargetdown" {
				t.Errorf("the runbook is %s", link)
			}
			for _, document := range documents {
				if strings.Contains(string(document), ".waybook.") {
					t.Errorf("a name has the other namespace:\n%s", document)
				}
			}
		})
	}
}

func TestAnotherControllerInItsNamespaceIsAdmitted(t *testing.T) {
	v := variant{overlay: "prod"}
	c, err := decode(v, edited(t, v,
		edit{"overlays/prod/entrance.yaml", "kubernetes.io/metadata.name: traefik", "kubernetes.io/metadata.name: ingress-nginx"},
		edit{"overlays/prod/entrance.yaml", "app.kubernetes.io/name: traefik", "app.kubernetes.io/name: ingress-nginx"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, arrow := range c.arrows() {
		if strings.Contains(arrow, " -> edge:8080") {
			t.Errorf("allowed: %s", arrow)
		}
	}
	if from := c.policy("entrance").Ingress[0].From; len(from) != 1 || from[0].NamespaceSelector == nil || from[0].PodSelector == nil {
		t.Errorf("admitted are %v", from)
	}
}

func TestAnotherImageMakesAnotherJob(t *testing.T) {
	const digest = "digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a0"
	jobs := func(v variant, edits ...edit) (names []string) {
		c, err := decode(v, edited(t, v, edits...))
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range c.jobs {
			names = append(names, job.Name)
			if len(job.Name) > 63 || !strings.HasPrefix(job.Name, job.Labels["app.kubernetes.io/name"]+"-") {
				t.Errorf("a Job is named %s", job.Name)
			}
		}
		for name, check := range checks() {
			for _, complaint := range complaints(check, c) {
				t.Errorf("%s: %s", name, complaint)
			}
		}
		slices.Sort(names)
		return names
	}
	prod, dev := variant{overlay: "prod"}, variant{overlay: "dev"}
	first := jobs(prod)
	if again := jobs(prod); !slices.Equal(first, again) {
		t.Errorf("the same images have the Jobs %v and %v", first, again)
	}
	tagged := jobs(prod, edit{prodFile, "newTag: v0.0.0", "newTag: v0.0.1"})
	digested := jobs(prod, edit{prodFile, "newTag: v0.0.0", digest + "8"})
	other := jobs(prod, edit{prodFile, "newTag: v0.0.0", digest + "9"})
	all := slices.Concat(first, tagged, digested, other)
	slices.Sort(all)
	if len(slices.Compact(all)) != 4 {
		t.Errorf("four images have the Jobs %v, %v, %v and %v", first, tagged, digested, other)
	}
	mongodb := jobs(dev)
	for _, name := range jobs(dev, edit{"components/mongodb/initiate.js", "rs0", "rs1"}) {
		if strings.HasPrefix(name, "mongodb-") == slices.Contains(mongodb, name) {
			t.Errorf("with another script, %v has the Job %s", mongodb, name)
		}
	}
}
