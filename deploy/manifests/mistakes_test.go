package manifests_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// mistake is a plausible change of a rendered variant, and the check that must find it.
type mistake struct{ check, old, new string }

func mistakes() map[string][]mistake {
	return map[string][]mistake{
		"dev": {
			{"security", "pod-security.kubernetes.io/enforce: restricted",
				"pod-security.kubernetes.io/enforce: baseline"},
			{"security", "runAsUser: 65532", "runAsUser: 0"},
			{"security", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false"},
			{"security", "serviceAccountName: blog", "serviceAccountName: poi"},
			{"security", "enableServiceLinks: false", "enableServiceLinks: true"},
			{"security", "automountServiceAccountToken: false\nkind: ServiceAccount",
				"automountServiceAccountToken: true\nkind: ServiceAccount"},
			{"resources", "resource: limits.cpu", "resource: requests.cpu"},
			{"resources", "resource: requests.memory", "resource: limits.memory"},
			{"resources", "cpu: 20m", "cpu: 250m"},
			{"resources", "memory: 256Mi\n", "memory: 40Mi\n"},
			{"probes", "service: liveness", "service: readiness"},
			{"probes", "failureThreshold: 150", "failureThreshold: 30"},
			{"probes", "progressDeadlineSeconds: 14400", "progressDeadlineSeconds: 600"},
			{"probes", "name: WAYBOOK_ADMIN\n          value: :8081", "name: WAYBOOK_ADMIN\n          value: :8082"},
			{"stop", "terminationGracePeriodSeconds: 60", "terminationGracePeriodSeconds: 50"},
			{"stop", "value: 35s", "value: 5s"},
			{"stop", "maxUnavailable: 0", "maxUnavailable: 1"},
			{"stop", "topologyKey: kubernetes.io/hostname", "topologyKey: topology.kubernetes.io/region"},
			{"selectors", "targetPort: grpc", "targetPort: rpc"},
			{"selectors", "clusterIP: None", "clusterIP: 10.0.0.1"},
			{"addresses", "-grpc=:9094", "-grpc=:9095"},
			{"addresses", "dns:///account:9091", "account:9091"},
			{"entrance", "path: /api.php", "path: /"},
			{"entrance", "WAYBOOK_TRUSTED_PROXIES: \"1\"", "WAYBOOK_TRUSTED_PROXIES: \"2\""},
			{"references", "secretName: waybook-authority", "secretName: waybook-authorities"},
			{"references", "key: keyfile", "key: keyfiles"},
			{"references", "mountPath: /authority\n          name: authority",
				"mountPath: /authority\n          name: ca"},
			{"certificates", "value: /etc/waybook/tls/tls.crt", "value: /etc/waybook/tls.crt"},
			{"replicas", "maxUnavailable: 1", "maxUnavailable: 2"},
			{"images", "image: waybook/poi:dev", "image: waybook/blog:dev"},
			{"images", "image: waybook/edge:dev", "image: waybook/edge:latest"},
			{"network", "port: grpc\n      protocol: TCP", "port: grpc"},
			{"network", "endPort: 9094", "endPort: 9093"},
			{"network", "kubernetes.io/metadata.name: traefik", "kubernetes.io/metadata.name: stranger"},
			{"network", "  podSelector: {}\n  policyTypes:\n  - Ingress\n  - Egress",
				"  podSelector: {}\n  policyTypes:\n  - Egress"},
		},
		"prod": {
			{"alerts", "https://github.com/waybook/waybook/blob/main/docs/operations.md#", "docs/operations.md#"},
			{"backups", "concurrencyPolicy: Forbid", "concurrencyPolicy: Allow"},
			{"certificates", "- poi\n  - poi.waybook.svc", "- edge\n  - poi.waybook.svc"},
			{"certificates", "renewBefore: 720h", "renewBefore: 2160h"},
			{"replicas", "minReplicas: 3", "minReplicas: 1"},
			{"network", "cidr: 10.0.0.0/8", "cidr: 0.0.0.0/0"},
		},
		"single": {
			{"backups", "suspend: true", "suspend: false"},
			{"backups", "claimName: data-standalone-0", "claimName: backups"},
			{"backups", "backup=/waybook.store.v1.StoreService/Backup", "backup=operator"},
			{"replicas", "replicas: 1", "replicas: 2"},
			{"entrance", "WAYBOOK_COOKIE_SECURE: always", "WAYBOOK_COOKIE_SECURE: auto"},
		},
	}
}

func TestEachCheckFindsItsMistakes(t *testing.T) {
	unfound := checks()
	for overlay, all := range mistakes() {
		v := variant{overlay: overlay}
		documents := bytes.Join(render(t, v), []byte("---\n"))
		for _, m := range all {
			if !bytes.Contains(documents, []byte(m.old)) {
				t.Fatalf("%s has no %q", overlay, m.old)
			}
			delete(unfound, m.check)
			c, err := decode(v, bytes.Split(bytes.ReplaceAll(documents, []byte(m.old), []byte(m.new)), []byte("---\n")))
			if err != nil {
				t.Fatalf("%s: %q: %v", m.check, m.new, err)
			}
			var found []string
			checks()[m.check](c, func(format string, args ...any) {
				found = append(found, fmt.Sprintf(format,
					args...))
			})
			if len(found) == 0 {
				t.Errorf("%s finds nothing wrong with %q in place of %q", m.check, m.new, m.old)
			}
		}
	}
	if len(unfound) > 0 {
		t.Errorf("no mistake makes these checks fail: %v", unfound)
	}
}

func TestDecodingIsStrict(t *testing.T) {
	v := variant{"prod", []string{"gateway-api"}}
	documents := bytes.Join(render(t, v), []byte("---\n"))
	for old, mistaken := range map[string]string{
		"revisionHistoryLimit:": "revisionHistoryLimits:", "minReplicas: 3": "minReplicas: three",
		"apiVersion: policy/v1": "apiVersion: policy/v1beta1",
		"backendRefs:":          "backends:", "dnsNames:": "dnsName:", "namespace: waybook": "namespace: default",
		"kind: ServiceAccount": "kind: Role",
	} {
		changed := bytes.Replace(documents, []byte(old), []byte(mistaken), 1)
		if _, err := decode(v, bytes.Split(changed, []byte("---\n"))); err == nil || bytes.Equal(changed, documents) {
			t.Errorf("%q was decoded", mistaken)
		}
	}
}

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
