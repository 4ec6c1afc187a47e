package manifests_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// singleMutations apply to single with cert-manager and monitoring.
func singleMutations() []mutation {
	return []mutation{
		{"backups as root", "security", func(c *cluster) { c.pod("backup").SecurityContext.RunAsUser = ptr.To[int64](0) }},
		{"a restore with capabilities", "security", func(c *cluster) { c.program("restore").SecurityContext.Capabilities = nil }},
		{"no limit", "resources", func(c *cluster) { delete(c.program("backup").Resources.Limits, corev1.ResourceMemory) }},
		{"a service of no pods", "services", func(c *cluster) { c.service("edge").Spec.Selector["app.kubernetes.io/name"] = "edge" }},
		{"no way in", "entrance", func(c *cluster) { c.ingresses = nil }},
		{"a monitor of no pods", "monitors", func(c *cluster) {
			c.podMonitors[0].Spec.Selector.MatchExpressions[0].Values = []string{"service"}
		}},
		{"a certificate that does not exist", "references", func(c *cluster) {
			c.pod("backup").Volumes[1].Secret.SecretName = "waybook-backups-tls"
		}},
		{"another program's image", "images", func(c *cluster) { c.program("standalone").Image = "waybook/edge:v1" }},
		{"backups that cannot connect", "network", func(c *cluster) { c.policy("backup").Egress = nil }},
		{"everybody may copy the store", "network", func(c *cluster) { c.policy("standalone").Ingress[0].From = nil }},
		{"no proxy, so that all clients are one", "clients", setEdge("WAYBOOK_TRUSTED_PROXIES", "")},
		{"a cookie over HTTP", "clients", setEdge("WAYBOOK_COOKIE_SECURE", "auto")},

		{"two writers", "program", func(c *cluster) { c.statefulSets[0].Spec.Replicas = ptr.To[int32](2) }},
		{"a rollout that waits for a broken pod", "program", func(c *cluster) {
			c.statefulSets[0].Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
		}},
		{"too little time to stop", "program", func(c *cluster) { c.pod("standalone").TerminationGracePeriodSeconds = ptr.To[int64](5) }},
		{"liveness that asks the store", "program", func(c *cluster) {
			c.program("standalone").LivenessProbe.GRPC.Service = ptr.To("readiness")
		}},
		{"no startup probe", "program", func(c *cluster) { c.program("standalone").StartupProbe = nil }},
		{"an impatient probe", "program", func(c *cluster) { c.program("standalone").ReadinessProbe.TimeoutSeconds = 2 }},
		{"a listener elsewhere", "program", func(c *cluster) { c.program("standalone").Args[1] = "-grpc=:9091" }},

		{"a store in the image", "volumes", func(c *cluster) { c.program("standalone").VolumeMounts = c.program("standalone").VolumeMounts[1:] }},
		{"a store beside its volume", "volumes", func(c *cluster) { c.program("standalone").Args[2] = "-data=/tmp" }},
		{"backups beside their volume", "volumes", func(c *cluster) { c.program("backup").VolumeMounts[0].MountPath = "/backup" }},
		{"a restore of another store", "volumes", func(c *cluster) {
			c.pod("restore").Volumes[1].PersistentVolumeClaim.ClaimName = "data-standalone-1"
		}},
		{"a store that goes with the StatefulSet", "volumes", func(c *cluster) {
			c.statefulSets[0].Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			}
		}},
		{"backups with access to the store", "volumes", func(c *cluster) {
			c.pod("backup").Volumes = append(c.pod("backup").Volumes, c.pod("restore").Volumes[1])
		}},
		{"no service account", "volumes", func(c *cluster) { c.accounts = c.accounts[1:] }},

		{"two backups at a time", "backups", func(c *cluster) { c.cronJob("backup").Spec.ConcurrencyPolicy = batchv1.AllowConcurrent }},
		{"a backup a month", "backups", func(c *cluster) { c.cronJob("backup").Spec.Schedule = "17 3 1 * *" }},
		{"one backup", "backups", func(c *cluster) { c.program("backup").Args[3] = "--keep=1" }},
		{"backups of another address", "backups", func(c *cluster) { c.program("backup").Env[0].Value = "standalone:9091" }},
		{"a restore by the clock", "backups", func(c *cluster) { c.cronJob("restore").Spec.Suspend = ptr.To(false) }},
		{"volumes in two places", "backups", func(c *cluster) { c.pod("backup").Affinity = nil }},
		{"volumes near nothing", "backups", func(c *cluster) {
			terms := c.pod("backup").Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			terms[0].PodAffinityTerm.LabelSelector.MatchLabels["app.kubernetes.io/name"] = "edge"
		}},

		{"a certificate of another name", "names", func(c *cluster) { c.certificate("waybook-backup-tls").Spec.DNSNames = []string{"operator"} }},
		{"no certificates", "names", func(c *cluster) { c.certificates = nil }},
		{"a certificate that nobody needs", "names", func(c *cluster) { c.certificate("waybook-backup-tls").Spec.SecretName = "waybook-edge-tls" }},
		{"backups that may do everything", "names", setEdge("WAYBOOK_CLIENTS", "backup=operator")},
	}
}

func TestEachCheckOfTheOverlaySingleFindsItsMistakes(t *testing.T) {
	v := variant{overlay: "single", components: []string{"cert-manager-single", "monitoring"}}
	decoded, err := decode(v, render(t, v))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range singleMutations() {
		t.Run(m.check+": "+m.name, func(t *testing.T) {
			seen[m.check] = true
			c := decoded.copied(t)
			m.mutate(c)
			if len(complaints(singleChecks()[m.check], c)) == 0 {
				t.Error("the check finds nothing wrong")
			}
		})
	}
	for name := range singleChecks() {
		if !seen[name] {
			t.Errorf("no mutation makes the check %s fail", name)
		}
	}
}
