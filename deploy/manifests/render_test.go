// Package manifests_test verifies deploy/k8s without a cluster. It renders every overlay with every
// optional component as kubectl does, decodes it strictly, and checks it against the programs.
package manifests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/deploy/rendered"
	"github.com/waybook/waybook/internal/longform"
)

const kustomizations = "../k8s"

// variant is an overlay with additional components.
type variant struct {
	overlay    string
	components []string
	// namespace is the namespace that the overlay names, or "" for waybook.
	namespace string
}

func (v variant) String() string {
	return strings.Join(append([]string{v.overlay}, v.components...), "+")
}

// has reports whether the variant or its overlay includes a component.
func (v variant) has(component string) bool {
	own := map[string][]string{"dev": {"mongodb"}, "prod": {"cert-manager", "monitoring"}}
	for _, c := range append(own[v.overlay], v.components...) {
		if c == component {
			return true
		}
	}
	return false
}

// edge returns the name of the program that serves /API.php.
func (v variant) edge() string {
	if v.overlay == "single" {
		return "standalone"
	}
	return "edge"
}

// variants returns all overlays with all combinations of their optional components; in the short form,
// with none of them and with all of them.
func variants() (all []variant) {
	for overlay, optional := range map[string][]string{
		"dev": {"cert-manager", "gateway-api", "monitoring", "tracing"}, "prod": {"gateway-api", "tracing"},
	} {
		whole := 1<<len(optional) - 1
		for subset := range whole + 1 {
			if subset != 0 && subset != whole && !longform.Selected() {
				continue
			}
			v := variant{overlay: overlay}
			for n, component := range optional {
				if subset&(1<<n) != 0 {
					v.components = append(v.components, component)
				}
			}
			all = append(all, v)
		}
	}
	return append(all,
		variant{overlay: "dev", components: []string{"priority", "pull-secret"}},
		variant{overlay: "prod", components: []string{"mongodb-community", "priority", "pull-secret", "scale-in-flight"}},
	)
}

// render renders a variant into one document for each object.
func render(t *testing.T, v variant) [][]byte {
	t.Helper()
	documents, err := rendered.Overlay(kustomizations, v.overlay, v.components...)
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// The list and its reverse have each two components in both orders.
func TestTheOrderOfComponentsDoesNotMatter(t *testing.T) {
	for _, v := range []variant{
		{overlay: "dev", components: []string{"gateway-api", "monitoring", "priority", "pull-secret", "tracing"}},
		{overlay: "prod", components: []string{"gateway-api", "mongodb-community", "priority", "pull-secret", "scale-in-flight", "tracing"}},
		{overlay: "single", components: []string{"gateway-api", "monitoring", "priority", "pull-secret", "tracing"}},
	} {
		first := sortedLines(render(t, v))
		slices.Reverse(v.components)
		for _, document := range sortedLines(render(t, v)) {
			if !slices.Contains(first, document) {
				t.Errorf("only %s has\n%s", v, document)
			}
		}
	}
}

// sortedLines returns documents without their order, and without that of their lines, such as variables.
func sortedLines(documents [][]byte) (all []string) {
	for _, document := range documents {
		lines := strings.Split(string(document), "\n")
		slices.Sort(lines)
		all = append(all, strings.Join(lines, "\n"))
	}
	return all
}
