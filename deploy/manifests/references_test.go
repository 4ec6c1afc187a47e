package manifests_test

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// external returns the Secrets, with their keys, that deploy/README.md asks operators to create.
func (v variant) external() map[string][]string {
	if v.overlay == "single" {
		return v.externalOfSingle()
	}
	secrets := map[string][]string{}
	if v.overlay == "prod" {
		secrets["waybook-mongodb"] = []string{"uri"}
		if v.has("mongodb-community") {
			secrets["waybook-mongodb"] = []string{"connectionString.standard"}
		}
		if !v.has("gateway-api") {
			secrets["waybook-public-tls"] = []string{"tls.crt", "tls.key"}
		}
	}
	if v.has("pull-secret") {
		secrets["waybook-registry"] = []string{corev1.DockerConfigJsonKey}
	}
	if !v.has("cert-manager") {
		for _, name := range []string{"edge", "account", "album", "blog", "poi"} {
			secrets["waybook-"+name+"-tls"] = []string{"tls.crt", "tls.key", "ca.crt"}
		}
	}
	return secrets
}

func TestTheReadmeNamesTheSecretsThatOperatorsCreate(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range append(variants(), singles()...) {
		for name, keys := range v.external() {
			for _, word := range append(keys, name) {
				if !bytes.Contains(readme, []byte("`"+word+"`")) {
					t.Errorf("%v: the README does not name %s", v, word)
				}
			}
		}
	}
}

// checkReferences checks that every Secret, ConfigMap and key that is named exists, that each of
// them is used, and that the TLS files are where the flags name them.
func checkReferences(c *cluster, complain complain) {
	present, used := map[string][]string{}, map[string]bool{}
	for name, keys := range c.variant.external() {
		present["Secret/"+name] = keys
	}
	for _, s := range c.secrets {
		for key := range s.Data {
			present["Secret/"+s.Name] = append(present["Secret/"+s.Name], key)
		}
	}
	for _, m := range c.configMaps {
		if m.Labels["grafana_dashboard"] != "" {
			used["ConfigMap/"+m.Name] = true // Grafana needs it
		}
		for key := range m.Data {
			present["ConfigMap/"+m.Name] = append(present["ConfigMap/"+m.Name], key)
		}
	}
	for _, certificate := range c.certificates {
		present["Secret/"+certificate.Spec.SecretName] = []string{"tls.crt", "tls.key", "ca.crt"}
	}
	need := func(where, kind, name string, keys ...string) {
		used[kind+"/"+name] = true
		have, ok := present[kind+"/"+name]
		for _, key := range keys {
			ok = ok && slices.Contains(have, key)
		}
		if !ok {
			complain("%s needs %s %s %v, which has %v", where, kind, name, keys, have)
		}
	}
	for _, w := range c.workloads() {
		for _, container := range w.containers() {
			where := w.name + "/" + container.Name
			for _, from := range container.EnvFrom {
				need(where, "ConfigMap", from.ConfigMapRef.Name)
			}
			for _, variable := range container.Env {
				if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
					need(where, "Secret", variable.ValueFrom.SecretKeyRef.Name, variable.ValueFrom.SecretKeyRef.Key)
				}
				if strings.HasPrefix(variable.Name, "WAYBOOK_TLS_") {
					if name, key, ok := w.secretFile(container, variable.Value); ok {
						need(where, "Secret", name, key)
					} else {
						complain("%s: %s names %s, where no Secret is mounted", where, variable.Name, variable.Value)
					}
				}
			}
			for _, mount := range container.VolumeMounts {
				if !w.hasVolume(c, mount.Name) {
					complain("%s mounts %s, which is not a volume", where, mount.Name)
				}
			}
		}
		for _, volume := range w.template.Spec.Volumes {
			if volume.Secret != nil {
				need(w.name, "Secret", volume.Secret.SecretName, keysOf(volume.Secret.Items)...)
			}
			if volume.ConfigMap != nil {
				need(w.name, "ConfigMap", volume.ConfigMap.Name, keysOf(volume.ConfigMap.Items)...)
			}
		}
	}
	for _, account := range c.accounts {
		for _, secret := range account.ImagePullSecrets {
			need("account "+account.Name, "Secret", secret.Name, corev1.DockerConfigJsonKey)
		}
	}
	for _, ingress := range c.ingresses {
		for _, tls := range ingress.Spec.TLS {
			need("ingress "+ingress.Name, "Secret", tls.SecretName, "tls.crt", "tls.key")
		}
	}
	for name := range present {
		if !used[name] && name != "Secret/waybook-operator-tls" && name != "Secret/waybook-ca" {
			complain("nothing needs %s", name)
		}
	}
}

func keysOf(items []corev1.KeyToPath) (keys []string) {
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}

func (w workload) hasVolume(c *cluster, name string) bool {
	for _, s := range c.statefulSets {
		for _, claim := range s.Spec.VolumeClaimTemplates {
			if s.Name == w.name && claim.Name == name {
				return true
			}
		}
	}
	return slices.ContainsFunc(w.template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
}

// secretFile returns the Secret and the key that are mounted as a file.
func (w workload) secretFile(container *corev1.Container, file string) (name, key string, ok bool) {
	for _, mount := range container.VolumeMounts {
		for _, volume := range w.template.Spec.Volumes {
			if mount.MountPath == path.Dir(file) && volume.Name == mount.Name && volume.Secret != nil {
				return volume.Secret.SecretName, path.Base(file), true
			}
		}
	}
	return "", "", false
}
