package manifests_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

const prodFile = "overlays/prod/kustomization.yaml"

func TestTheNamespaceAndThePortCanBeChosen(t *testing.T) {
	v := variant{"prod", []string{"gateway-api"}}
	documents := render(t, v, edit{prodFile, "namespace: waybook", "namespace: pictures"},
		edit{"overlays/prod/port.yaml", "8080", "80"})
	c, err := decode(v, documents)
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range checks() {
		check(c, func(format string, args ...any) { t.Errorf("%s: %s", name, fmt.Sprintf(format, args...)) })
	}
	if text := string(bytes.Join(documents, nil)); strings.Contains(text, ".waybook.") ||
		!strings.Contains(text, "port: 80\n") {
		t.Error("a name has the other namespace, or the Service the other port")
	}
}

// A Job cannot be changed, so another release applies another Job.
func TestAnotherImageMakesAnotherJob(t *testing.T) {
	seen := map[string]bool{}
	for _, tag := range []string{"newTag: v0.0.0", "newTag: v0.0.1",
		"digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"} {
		for _, document := range render(t, variant{overlay: "prod"}, edit{prodFile, "newTag: v0.0.0", tag}) {
			if bytes.Contains(document, []byte("kind: Job\n")) {
				_, name, _ := bytes.Cut(document, []byte("\n  name: prepare-"))
				name, _, _ = bytes.Cut(name, []byte("\n"))
				seen[string(name)] = true
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("three images have the Jobs %v", seen)
	}
}
