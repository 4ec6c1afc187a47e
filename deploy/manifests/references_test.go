package manifests_test

import (
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybook/waybook/internal/platform/access"
)

// external returns the Secrets, with their keys, that operators create.
func (v variant) external() map[string][]string {
	secrets := map[string][]string{}
	if v.overlay == "prod" {
		secrets["waybook-mongodb"], secrets["waybook-mongodump"] = []string{"uri"}, []string{"config"}
	}
	if v.overlay != "dev" && !slices.Contains(v.components, "gateway-api") {
		secrets["waybook-public-tls"] = []string{"tls.crt", "tls.key"}
	}
	return secrets
}

// checkReferences checks that every Secret, ConfigMap, key and volume that is named exists, and that each of them
// is used.
func checkReferences(c *cluster, complain complain) {
	present, used := map[string][]string{}, map[string]bool{}
	for name, keys := range c.external() {
		present["Secret/"+name] = keys
	}
	for _, s := range all[*corev1.Secret](c) {
		for key := range s.Data {
			present["Secret/"+s.Name] = append(present["Secret/"+s.Name], key)
		}
	}
	for _, m := range all[*corev1.ConfigMap](c) {
		used["ConfigMap/"+m.Name] = m.Labels["grafana_dashboard"] != ""
		for key := range m.Data {
			present["ConfigMap/"+m.Name] = append(present["ConfigMap/"+m.Name], key)
		}
	}
	for _, each := range all[*certificate](c) {
		present["Secret/"+each.Spec.SecretName] = []string{"tls.crt", "tls.key", "ca.crt"}
	}
	need := func(where, what string, keys ...string) {
		used[what] = true
		have, ok := present[what]
		for _, key := range keys {
			ok = ok && slices.Contains(have, key)
		}
		if !ok {
			complain("%s needs %s %v, which has %v", where, what, keys, have)
		}
	}
	keysOf := func(items []corev1.KeyToPath) (keys []string) {
		for _, item := range items {
			keys = append(keys, item.Key)
		}
		return keys
	}
	for _, w := range c.workloads() {
		volumes := map[string]bool{}
		for _, volume := range w.pod.Volumes {
			volumes[volume.Name] = true
			if s := volume.Secret; s != nil {
				need(w.name, "Secret/"+s.SecretName, keysOf(s.Items)...)
			}
			if m := volume.ConfigMap; m != nil {
				need(w.name, "ConfigMap/"+m.Name, keysOf(m.Items)...)
			}
			if claim := volume.PersistentVolumeClaim; claim != nil &&
				named[*corev1.PersistentVolumeClaim](c, claim.ClaimName) == nil &&
				claim.ClaimName != "data-standalone-0" {
				complain("%s: there is no claim %s", w.name, claim.ClaimName)
			}
		}
		if s := named[*appsv1.StatefulSet](c, w.name); s != nil {
			volumes[s.Spec.VolumeClaimTemplates[0].Name] = true
		}
		for _, container := range w.containers() {
			for _, from := range container.EnvFrom {
				need(w.name, "ConfigMap/"+from.ConfigMapRef.Name)
			}
			for _, variable := range container.Env {
				if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
					need(w.name, "Secret/"+variable.ValueFrom.SecretKeyRef.Name, variable.ValueFrom.SecretKeyRef.Key)
				}
			}
			for _, mount := range container.VolumeMounts {
				if !volumes[mount.Name] {
					complain("%s mounts %s, which is not a volume", w.name, mount.Name)
				}
			}
		}
	}
	for _, ingress := range all[*networkingv1.Ingress](c) {
		for _, tls := range ingress.Spec.TLS {
			need("the ingress", "Secret/"+tls.SecretName, "tls.crt", "tls.key")
		}
	}
	for name := range present {
		if !used[name] && !slices.Contains([]string{"Secret/waybook-operator-tls", "Secret/waybook-ca", "Secret/waybook-reports-tls"}, name) {
			complain("nothing needs %s", name)
		}
	}
}

// checkCertificates checks that each program has a certificate whose first name is its identity, for the names by
// which it is dialled, and that no other certificate has an identity of the contracts.
func checkCertificates(c *cluster, complain complain) {
	rules, err := access.Contracts()
	if err != nil {
		complain("%v", err)
		return
	}
	identities := append(rules.Identities(), "backup", "reports", "standalone")
	for _, each := range all[*certificate](c) {
		from := named[*issuer](c, each.Spec.IssuerRef.Name)
		if from == nil || each.Spec.RenewBefore.Duration <= 0 ||
			each.Spec.RenewBefore.Duration >= each.Spec.Duration.Duration {
			complain("certificate %s has no issuer, or is not renewed in time", each.Name)
		}
		if each.Spec.IsCA {
			continue
		}
		if names := each.Spec.DNSNames; len(names) == 0 || names[0] != each.Name ||
			each.Spec.SecretName != "waybook-"+each.Name+"-tls" ||
			slices.ContainsFunc(names[1:], func(name string) bool { return slices.Contains(identities, name) }) {
			complain("certificate %s of %s has the names %v", each.Name, each.Spec.SecretName, names)
		}
	}
	for _, w := range c.workloads() {
		at := path.Dir(c.environment(&w.pod.Containers[0], "")["WAYBOOK_TLS_CERT"])
		if at == "." {
			continue
		}
		mount := slices.IndexFunc(w.pod.Containers[0].VolumeMounts,
			func(m corev1.VolumeMount) bool { return m.MountPath == at })
		if mount < 0 {
			complain("%s: nothing is mounted at %s", w.name, at)
			continue
		}
		if first := w.pod.InitContainers; c.overlay == "dev" {
			if len(first) != 1 || !slices.Contains(first[0].Args, at) ||
				first[0].Env[0].ValueFrom.FieldRef.FieldPath != "metadata.labels['app.kubernetes.io/name']" {
				complain("%s makes no certificate", w.name)
			}
			continue
		}
		found := named[*certificate](c, w.name)
		volume := slices.IndexFunc(w.pod.Volumes,
			func(v corev1.Volume) bool { return v.Name == w.pod.Containers[0].VolumeMounts[mount].Name })
		if found == nil || w.pod.Volumes[volume].Secret == nil ||
			w.pod.Volumes[volume].Secret.SecretName != found.Spec.SecretName ||
			!slices.Contains(found.Spec.Usages, "client auth") {
			complain("%s has no certificate of its own at %s", w.name, at)
		} else if s := named[*corev1.Service](c, w.name); s != nil && w.name != "edge" {
			// By these, callers of other namespaces dial it, and waybookctl through kubectl port-forward.
			if !slices.Equal(found.Spec.DNSNames, []string{w.name, w.name + "." + c.namespace + ".svc", "localhost"}) ||
				!slices.Equal(found.Spec.IPAddresses, []string{"127.0.0.1"}) ||
				!slices.Contains(found.Spec.Usages, "server auth") {
				complain("the certificate of %s is for %v %v", w.name, found.Spec.DNSNames, found.Spec.IPAddresses)
			}
		}
	}
}

// checkReplicas checks that each program is scaled from two pods on, that a node can be drained, and that a store
// has one writer.
func checkReplicas(c *cluster, complain complain) {
	for _, d := range all[*appsv1.Deployment](c) {
		scaler, budget := named[*autoscalingv2.HorizontalPodAutoscaler](c, d.Name),
			named[*policyv1.PodDisruptionBudget](c, d.Name)
		if d.Spec.Replicas != nil || (scaler == nil) != (c.overlay == "dev") ||
			scaler != nil && (scaler.Spec.ScaleTargetRef.Name != d.Name || *scaler.Spec.MinReplicas < 2 ||
				scaler.Spec.MaxReplicas < *scaler.Spec.MinReplicas) {
			complain("%s is not scaled", d.Name)
		}
		if budget == nil || *budget.Spec.MaxUnavailable != intstr.FromInt32(1) ||
			!selects(budget.Spec.Selector, d.Spec.Template.Labels) || len(c.behind(budget.Spec.Selector)) != 1 {
			complain("the budget of %s lets no node be drained, or all pods be evicted", d.Name)
		}
	}
	for _, s := range all[*appsv1.StatefulSet](c) {
		if s.Spec.Replicas == nil || *s.Spec.Replicas != 1 ||
			s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement ||
			s.Spec.PersistentVolumeClaimRetentionPolicy != nil {
			complain("%s has several writers, waits for a broken pod, or may lose its volume", s.Name)
		}
	}
}

// checkImages checks that each container runs the right image, that the Dockerfile has its target, and that it has
// a digest, or a tag other than latest.
func checkImages(c *cluster, complain complain) {
	dockerfile, err := os.ReadFile("../Dockerfile")
	if err != nil {
		complain("%v", err)
	}
	for _, w := range c.workloads() {
		for _, container := range w.containers() {
			_, tag, _ := strings.Cut(path.Base(container.Image), ":")
			program, isOurs := ours(container.Image)
			if tag == "" || tag == "latest" || !isOurs && container.Image != "mongo:8.0" || isOurs &&
				c.overlay == "dev" && tag != "dev" {
				complain("%s: image %s", w.name, container.Image)
			}
			if isOurs && program != w.name && program != "waybookctl" || isOurs &&
				!strings.Contains(string(dockerfile), "\nFROM base AS "+program+"\n") {
				complain("%s runs %s", w.name, container.Image)
			}
		}
	}
}

// checkBackups checks that a backup runs every night, one at a time, with rights and volumes for nothing else, and
// that nothing restores by itself.
func checkBackups(c *cluster, complain complain) {
	for _, j := range all[*batchv1.CronJob](c) {
		s := j.Spec
		isRestore := j.Name == "restore"
		if s.TimeZone == nil || *s.TimeZone != "Etc/UTC" || !isRestore &&
			(s.ConcurrencyPolicy != batchv1.ForbidConcurrent || !strings.HasSuffix(s.Schedule, " * * *")) ||
			isRestore != (s.Suspend != nil && *s.Suspend) {
			complain("%s runs at %s, %s", j.Name, s.Schedule, s.ConcurrencyPolicy)
		}
	}
	if c.overlay != "single" {
		if named[*batchv1.CronJob](c, "mongodump") == nil && c.overlay == "prod" {
			complain("nothing backs MongoDB up")
		}
		return
	}
	mounts := func(name string) (found []string) {
		w := c.workload(name)
		for _, mount := range w.pod.Containers[0].VolumeMounts {
			for _, volume := range w.pod.Volumes {
				if claim := volume.PersistentVolumeClaim; volume.Name == mount.Name && claim != nil {
					found = append(found, mount.MountPath+"="+claim.ClaimName)
				}
			}
		}
		return found
	}
	set := c.environment(c.program("standalone"), "")
	if !slices.Equal(c.program("backup").Args, []string{"store", "backup", "/backups", "--keep=7"}) ||
		!slices.Equal(mounts("backup"), []string{"/backups=backups"}) ||
		c.environment(c.program("backup"), "")["WAYBOOK_ADDRESS"] != "standalone:9090" ||
		set["WAYBOOK_CLIENTS"] != "backup=/waybook.store.v1.StoreService/Backup" {
		complain("backups are %v to %v with the rights %s", c.program("backup").Args, mounts("backup"),
			set["WAYBOOK_CLIENTS"])
	}
	if !slices.Equal(c.program("restore").Args, []string{"store", "restore", "/backups", "--data=/data"}) ||
		!slices.Equal(mounts("restore"), []string{"/backups=backups", "/data=data-standalone-0"}) ||
		!slices.Contains(c.program("standalone").Args, "-data=/data") {
		complain("a restore is %v of %v", c.program("restore").Args, mounts("restore"))
	}
}

// checkAlerts checks that people can follow the link of an alert wherever they read it.
func checkAlerts(c *cluster, complain complain) {
	for _, rule := range all[*monitoringv1.PrometheusRule](c) {
		for _, alert := range rule.Spec.Groups[0].Rules {
			link, err := url.Parse(alert.Annotations["runbook_url"])
			if err != nil || link.Scheme != "https" || link.Fragment != strings.ToLower(alert.Alert) ||
				rule.Labels["release"] == "" {
				complain("the runbook of %s is %s, or Prometheus does not read the rule", alert.Alert, link)
			}
		}
	}
}
