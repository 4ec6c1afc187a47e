package manifests_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybook/waybook/deploy/rendered"
)

var mongoDB = rendered.Settings{"waybook-mongodb": {"uri": "mongodb://db/waybook"}}

func TestAProgramHasTheValuesThatKubernetesFillsIn(t *testing.T) {
	programs, err := rendered.Programs(render(t, variant{overlay: "prod"}), mongoDB)
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(programs)); !slices.Equal(names, []string{"account", "album", "blog", "edge", "poi"}) {
		t.Errorf("the programs are %v", names)
	}
	blog := programs["blog"]
	if !slices.Equal(blog.Args, []string{"-grpc=:9093", "-account=dns:///account:9091"}) {
		t.Errorf("started with %v", blog.Args)
	}
	for name, want := range map[string]string{
		"WAYBOOK_TLS_CERT":    "/etc/waybook/tls/tls.crt", // a literal
		"WAYBOOK_REWARD":      "10",                       // from a ConfigMap
		"WAYBOOK_MONGODB_URI": "mongodb://db/waybook",     // from a Secret
		"GOMEMLIMIT":          "201326592",                // from a request, 192Mi
		"GOMAXPROCS":          "2",                        // from a limit
	} {
		if got := blog.Environment[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if blog.Secrets["/etc/waybook/tls"] != "waybook-blog-tls" {
		t.Errorf("mounted are %v", blog.Secrets)
	}
}

func TestAnUnsupportedManifestIsRefused(t *testing.T) {
	for want, change := range map[string][2]string{
		"not the image's program":           {"        image: registry.example.com/waybook/edge:v0.0.0\n", "        command: [sh]\n        image: x\n"},
		"refers to a variable":              {"-http=:8080", "-http=$(ADDRESS)"},
		"variables come from":               {"- configMapRef:", "- secretRef:"},
		"is not supported":                  {"value: json", "value: $(FORMAT)"},
		"there is no key url":               {"key: uri", "key: url"},
		"has no limits.disk":                {"resource: limits.cpu", "resource: limits.disk"},
		"is not an entire Secret or volume": {"readOnly: true", "subPath: tls"},
		"other containers than the":         {"      containers:\n", "      initContainers: [{name: first}]\n      containers:\n"},
		"unknown field":                     {"automountServiceAccountToken", "mountToken"},
	} {
		documents := render(t, variant{overlay: "prod"})
		for n, document := range documents {
			documents[n] = bytes.Replace(document, []byte(change[0]), []byte(change[1]), 1)
		}
		if _, err := rendered.Programs(documents, mongoDB); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q instead of %q: %v, want %s", change[1], change[0], err, want)
		}
	}
}
