package manifests_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/waybook/waybook/internal/platform/process"
)

// singles returns the overlay single alone, with each of its optional components, and with all.
func singles() []variant {
	return []variant{
		{overlay: "single"},
		{overlay: "single", components: []string{"cert-manager-single", "monitoring"}},
		{overlay: "single", components: []string{"gateway-api", "tracing"}},
		{overlay: "single", components: []string{"cert-manager-single", "gateway-api", "monitoring", "tracing"}},
		{overlay: "single", components: []string{"priority", "pull-secret"}},
	}
}

// singleChecks are the checks of the overlay single.
func singleChecks() map[string]func(*cluster, complain) {
	return map[string]func(*cluster, complain){
		"security":   checkSecurity,
		"priority":   checkPriority,
		"rights":     checkRights,
		"resources":  checkResources,
		"services":   checkServices,
		"entrance":   checkEntrance,
		"monitors":   checkMonitors,
		"references": checkReferences,
		"images":     checkImages,
		"network":    checkNetwork,
		"clients":    checkClients,
		"program":    checkStandalone,
		"volumes":    checkVolumes,
		"backups":    checkBackups,
		"names":      checkSingleCertificates,
	}
}

func (v variant) externalOfSingle() map[string][]string {
	secrets := map[string][]string{}
	if !v.has("gateway-api") {
		secrets["waybook-public-tls"] = []string{"tls.crt", "tls.key"}
	}
	if v.has("pull-secret") {
		secrets["waybook-registry"] = []string{".dockerconfigjson"}
	}
	if !v.has("cert-manager-single") {
		for _, name := range []string{"standalone", "backup"} {
			secrets["waybook-"+name+"-tls"] = []string{"tls.crt", "tls.key", "ca.crt"}
		}
	}
	return secrets
}

// singleArrows are the connections of the overlay single, in the form of wantedArrows.
func singleArrows(v variant) string {
	table := `
backup -> standalone:9090
standalone,backup,restore,newcomer -> dns:53
standalone,backup,restore,newcomer -> dns:53/UDP
`
	if v.has("gateway-api") {
		table += "gateway -> standalone:8080\n"
	} else {
		table += "controller -> standalone:8080\n"
	}
	if v.has("tracing") {
		table += "standalone -> collector:4317\n"
	}
	if v.has("monitoring") {
		table += "prometheus -> standalone:8081\n"
	}
	return table
}

func (c *cluster) cronJob(name string) *batchv1.CronJob {
	n := slices.IndexFunc(c.cronJobs, func(j *batchv1.CronJob) bool { return j.Name == name })
	return c.cronJobs[n]
}

// checkStandalone checks that one program at a time uses the store, that it has time to stop, and that
// only liveness may restart it.
func checkStandalone(c *cluster, complain complain) {
	set, container := c.statefulSets[0], *c.program("standalone")
	if *set.Spec.Replicas != 1 || set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		complain("%d replicas, %s", *set.Spec.Replicas, set.Spec.PodManagementPolicy)
	}
	if grace := set.Spec.Template.Spec.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second <= process.StopTimeout {
		complain("the pod is killed before its stop of up to %v ends", process.StopTimeout)
	}
	for what, probe := range map[string]*corev1.Probe{
		process.Liveness: container.LivenessProbe, process.ReadinessName: container.ReadinessProbe, "startup": container.StartupProbe,
	} {
		want := strings.Replace(what, "startup", process.Liveness, 1)
		if probe == nil || probe.GRPC == nil || probe.GRPC.Service == nil || *probe.GRPC.Service != want || probe.GRPC.Port != portOf(container, "admin") {
			complain("the %s probe is %v", what, probe)
		}
	}
	if probe := container.ReadinessProbe; probe != nil && probe.TimeoutSeconds <= 2 {
		complain("readiness asks the store for up to 2 s, and the probe waits %d s", probe.TimeoutSeconds)
	}
	for flag, value := range c.flags(&container) {
		if flag != "http" && flag != "grpc" && flag != "admin" {
			continue
		}
		if want := ":" + strconv.Itoa(int(portOf(container, flag))); value != want {
			complain("-%s is %s and the pod declares %s", flag, value, want)
		}
	}
}

// volumeAt returns the claim that a pod mounts at a path.
func (c *cluster) volumeAt(name, path string) string {
	pod := c.pod(name)
	for _, mount := range pod.Containers[0].VolumeMounts {
		if mount.MountPath != path || mount.ReadOnly {
			continue
		}
		for _, volume := range pod.Volumes {
			if volume.Name == mount.Name && volume.PersistentVolumeClaim != nil {
				return volume.PersistentVolumeClaim.ClaimName
			}
		}
		for _, set := range c.statefulSets {
			for _, claim := range set.Spec.VolumeClaimTemplates {
				if set.Name == name && claim.Name == mount.Name {
					return claim.Name + "-" + set.Name + "-0"
				}
			}
		}
	}
	return ""
}

// checkVolumes checks that the directories in the arguments are on the right volumes.
func checkVolumes(c *cluster, complain complain) {
	names := []string{}
	for _, claim := range c.claims {
		names = append(names, claim.Name)
	}
	for _, set := range c.statefulSets {
		if retention := set.Spec.PersistentVolumeClaimRetentionPolicy; retention != nil {
			complain("the volume of the store may be deleted with %s", set.Name)
		}
		for _, claim := range set.Spec.VolumeClaimTemplates {
			names = append(names, claim.Name+"-"+set.Name+"-0")
		}
	}
	for _, w := range c.workloads() {
		for _, volume := range w.template.Spec.Volumes {
			if claim := volume.PersistentVolumeClaim; claim != nil && !slices.Contains(names, claim.ClaimName) {
				complain("%s: there is no claim %s", w.name, claim.ClaimName)
			}
		}
		if account := w.template.Spec.ServiceAccountName; !slices.ContainsFunc(c.accounts, func(a *corev1.ServiceAccount) bool { return a.Name == account }) {
			complain("%s: there is no service account %q", w.name, account)
		}
	}
	store := c.volumeAt("standalone", "/data")
	if store == "" || !slices.Contains(c.program("standalone").Args, "-data=/data") {
		complain("the store of standalone is on no volume")
	}
	for _, name := range []string{"backup", "restore"} {
		if c.volumeAt(name, "/backups") != "backups" {
			complain("the backups of %s are not on their volume", name)
		}
	}
	if c.volumeAt("restore", "/data") != store || !slices.Contains(c.program("restore").Args, "--data=/data") {
		complain("a restore does not reach the store")
	}
	if len(c.pod("backup").Volumes) != 2 {
		complain("a backup needs its own volume and its certificate only")
	}
}

// checkBackups checks that a backup runs every night, one at a time, and that nothing restores by
// itself.
func checkBackups(c *cluster, complain complain) {
	for _, job := range c.cronJobs {
		if job.Spec.TimeZone == nil || *job.Spec.TimeZone != "Etc/UTC" {
			complain("%s runs in the time zone of the cluster's controller", job.Name)
		}
	}
	backup, restore := c.cronJob("backup").Spec, c.cronJob("restore").Spec
	if backup.ConcurrencyPolicy != batchv1.ForbidConcurrent || backup.Suspend != nil || backup.StartingDeadlineSeconds == nil ||
		!strings.HasSuffix(backup.Schedule, " * * *") {
		complain("backups run at %s, %s", backup.Schedule, backup.ConcurrencyPolicy)
	}
	if restore.Suspend == nil || !*restore.Suspend || *restore.JobTemplate.Spec.BackoffLimit != 0 {
		complain("a restore runs by itself, or twice")
	}
	kept := 0
	for flag, value := range c.flags(c.program("backup")) {
		if flag == "keep" {
			kept, _ = strconv.Atoi(value)
		}
		if flag == "address" && value != "standalone:"+strconv.Itoa(int(portOf(*c.program("standalone"), "grpc"))) {
			complain("a backup calls %s", value)
		}
	}
	if kept < 2 {
		complain("%d backups are kept", kept)
	}
	near := c.pod("backup").Affinity
	if near == nil || near.PodAffinity == nil {
		complain("the volumes may be in two places, where no pod can have both")
		return
	}
	for _, term := range near.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if !selects(term.PodAffinityTerm.LabelSelector, c.statefulSets[0].Spec.Template.Labels) {
			complain("backups run near other pods than standalone's")
		}
	}
}

// checkSingleCertificates checks the names in the certificates, if cert-manager is used, and what the
// name of the CronJob may call.
func checkSingleCertificates(c *cluster, complain complain) {
	want := map[string]string{}
	if c.variant.has("cert-manager-single") {
		want = map[string]string{
			"waybook-standalone-tls": "server auth", "waybook-backup-tls": "client auth", "waybook-operator-tls": "client auth",
		}
	}
	for secret, usage := range want {
		found := c.certificate(secret)
		name := strings.TrimSuffix(strings.TrimPrefix(secret, "waybook-"), "-tls")
		if found == nil || found.Spec.DNSNames[0] != name || !slices.Contains(found.Spec.Usages, usage) || found.Spec.IssuerRef.Name != "waybook" {
			complain("%s has no certificate, or a wrong one", name)
		}
	}
	for _, certificate := range c.certificates {
		if want[certificate.Spec.SecretName] == "" && !certificate.Spec.IsCA {
			complain("nothing uses the certificate %s", certificate.Name)
		}
	}
	for flag, value := range c.flags(c.program("standalone")) {
		if flag != "clients" {
			continue
		}
		for grant := range strings.SplitSeq(value, ",") {
			if grant != "backup=/waybook.store.v1.StoreService/Backup" {
				complain("the setting admits %s", grant)
			}
		}
	}
}

func TestTheOverlaySinglePassesEveryCheck(t *testing.T) {
	for _, v := range singles() {
		t.Run(v.String(), func(t *testing.T) {
			c, err := decode(v, render(t, v))
			if err != nil {
				t.Fatal(err)
			}
			if len(c.statefulSets) != 1 || len(c.cronJobs) < 2 || len(c.deployments)+len(c.jobs) != 0 {
				t.Fatalf("%d StatefulSets, %d CronJobs, %d deployments, %d jobs", len(c.statefulSets), len(c.cronJobs), len(c.deployments), len(c.jobs))
			}
			for name, check := range singleChecks() {
				for _, complaint := range complaints(check, c) {
					t.Errorf("%s: %s", name, complaint)
				}
			}
		})
	}
}

func TestTheProgramsOfTheOverlaySingleAcceptTheirFlags(t *testing.T) {
	for _, v := range []variant{{overlay: "single"}, {overlay: "single", components: []string{"tracing"}}} {
		c, err := decode(v, render(t, v))
		if err != nil {
			t.Fatal(err)
		}
		if output, ok := accepted(c, compiled(t, "standalone"), c.program("standalone")); !ok {
			t.Errorf("%v: %s", v, output)
		}
		for _, name := range []string{"backup", "restore"} {
			c.expectCommand(t, compiled(t, "waybookctl"), c.program(name))
		}
	}
}
