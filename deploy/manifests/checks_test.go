package manifests_test

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/waybook/waybook/internal/platform/access"
	"github.com/waybook/waybook/internal/platform/discovery"
	"github.com/waybook/waybook/internal/platform/process"
)

// complain reports a fault.
type complain func(format string, args ...any)

// checks are what every variant passes. A mistake in TestEachCheckFindsItsMistakes shows that each can fail.
func checks() map[string]func(*cluster, complain) {
	return map[string]func(*cluster, complain){
		"security": checkSecurity, "resources": checkResources, "probes": checkProbes, "stop": checkStop, "selectors": checkSelectors,
		"addresses": checkAddresses, "entrance": checkEntrance, "references": checkReferences, "certificates": checkCertificates,
		"replicas": checkReplicas, "images": checkImages, "network": checkNetwork, "backups": checkBackups, "alerts": checkAlerts,
	}
}

func TestEveryVariantPassesEveryCheck(t *testing.T) {
	for _, v := range variants() {
		c := decoded(t, v)
		for name, check := range checks() {
			check(c, func(format string, args ...any) { t.Errorf("%s: %s: %s", v, name, fmt.Sprintf(format, args...)) })
		}
	}
}

// checkSecurity checks that the namespace enforces the restricted standard, which every pod meets, and that each pod has an
// account of its own, without a token, and cannot write to its image.
func checkSecurity(c *cluster, complain complain) {
	if n := named[*corev1.Namespace](c, c.namespace); n == nil || n.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		complain("the namespace does not enforce the restricted standard")
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		complain("%v", err)
		return
	}
	for _, w := range c.workloads() {
		restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
		if result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &metav1.ObjectMeta{}, w.pod)); !result.Allowed {
			complain("%s: %s", w.name, result.ForbiddenDetail())
		}
		account := named[*corev1.ServiceAccount](c, w.pod.ServiceAccountName)
		if own := strings.Replace(strings.TrimSuffix(w.name, "-initiate"), "restore", "backup", 1); account == nil || account.Name != own {
			complain("%s runs as the account %q", w.name, w.pod.ServiceAccountName)
		} else if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
			complain("the account %s mounts a token", account.Name)
		}
		if token, links := w.pod.AutomountServiceAccountToken, w.pod.EnableServiceLinks; token == nil || *token || links == nil || *links {
			complain("%s gets a token, or variables of all services, such as WAYBOOK_PORT", w.name)
		}
		if slices.ContainsFunc(w.pod.Volumes, func(v corev1.Volume) bool { return v.Projected != nil || v.HostPath != nil }) {
			complain("%s has a token, or a volume of its node", w.name)
		}
		for _, container := range w.containers() {
			if s := container.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
				complain("%s/%s can write to its image", w.name, container.Name)
			}
		}
	}
}

// dev leaves most of a laptop's cluster to others, also while each program is replaced.
var devCPU, devMemory = resource.MustParse("500m"), resource.MustParse("1280Mi")

// checkResources checks requests and limits, and that the Go runtime knows them. GOMEMLIMIT must be below the container's limit, so
// that Go collects garbage before the container is killed.
func checkResources(c *cluster, complain complain) {
	var cpu, memory resource.Quantity
	for _, w := range c.workloads() {
		for _, container := range w.containers() {
			requests, limits := container.Resources.Requests, container.Resources.Limits
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := requests[name], limits[name]
				if request.IsZero() || limit.IsZero() || request.Cmp(limit) > 0 {
					complain("%s/%s requests %s of %s, and its limit is %s", w.name, container.Name, request.String(), name, limit.String())
				}
			}
			if _, is := ours(container.Image); !is {
				continue
			}
			set := c.environment(container, "")
			if got, _ := strconv.ParseInt(set["GOMEMLIMIT"], 10, 64); got == 0 || got > limits.Memory().Value()*9/10 {
				complain("%s/%s: GOMEMLIMIT is %d, which leaves no room below %s", w.name, container.Name, got, limits.Memory())
			}
			if set["GOMAXPROCS"] != strconv.FormatInt(limits.Cpu().Value(), 10) {
				complain("%s/%s: GOMAXPROCS is %s, and the limit %s", w.name, container.Name, set["GOMAXPROCS"], limits.Cpu())
			}
		}
		pods := 1
		if d := named[*appsv1.Deployment](c, w.name); d != nil && d.Spec.Strategy.RollingUpdate != nil {
			pods += d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue()
		}
		for range pods { // init containers request less
			cpu.Add(*w.pod.Containers[0].Resources.Requests.Cpu())
			memory.Add(*w.pod.Containers[0].Resources.Requests.Memory())
		}
	}
	if c.overlay == "dev" && (cpu.Cmp(devCPU) > 0 || memory.Cmp(devMemory) > 0) {
		complain("the pods request %s of CPU and %s of memory, limit %s and %s", &cpu, &memory, &devCPU, &devMemory)
	}
}

// longestStart is how long a pod may build indexes before it is ready, and longestOpening how long it may take until its admin port opens.
const longestStart, longestOpening = 4 * time.Hour, 5 * time.Minute

// checkProbes checks that the probes ask for services that the programs serve, on the admin port. A pod that starts for longestStart
// must be neither restarted nor given up, so only liveness decides over its start.
func checkProbes(c *cluster, complain complain) {
	for _, d := range all[*appsv1.Deployment](c) {
		if given := d.Spec.ProgressDeadlineSeconds; given == nil || time.Duration(*given)*time.Second < longestStart {
			complain("%s: a rollout is given up while a pod may still be starting", d.Name)
		}
	}
	if j := all[*batchv1.Job](c); c.overlay != "single" && !slices.ContainsFunc(j, func(j *batchv1.Job) bool {
		return strings.HasPrefix(j.Name, "prepare-") && time.Duration(*j.Spec.ActiveDeadlineSeconds)*time.Second >= longestStart
	}) {
		complain("no Job prepares the store, or it is ended while it may still build indexes")
	}
	for _, w := range c.serving() {
		container := &w.pod.Containers[0]
		admin := portOf(container, "admin")
		if got := c.environment(container, "")["WAYBOOK_ADMIN"]; admin == 0 || got != fmt.Sprintf(":%d", admin) {
			complain("%s: the admin port is %d, and WAYBOOK_ADMIN is %q", w.name, admin, got)
		}
		for i, probe := range []*corev1.Probe{container.LivenessProbe, container.StartupProbe, container.ReadinessProbe} {
			want := []string{process.Liveness, process.Liveness, process.ReadinessName}[i]
			if probe == nil || probe.GRPC == nil || probe.GRPC.Service == nil || probe.GRPC.Port != admin || *probe.GRPC.Service != want {
				complain("%s: a probe does not ask the admin port for %q", w.name, want)
			}
		}
		if probe := container.ReadinessProbe; probe != nil && probe.TimeoutSeconds <= 2 {
			complain("%s: readiness asks the store for up to 2 s, and the probe waits %d s", w.name, probe.TimeoutSeconds)
		}
		if probe := container.StartupProbe; probe != nil && time.Duration(probe.PeriodSeconds*probe.FailureThreshold)*time.Second < longestOpening {
			complain("%s: a pod on a busy node is restarted before it has started", w.name)
		}
	}
}

// serving returns the workloads whose pods serve.
func (c *cluster) serving() (found []workload) {
	for _, w := range c.workloads() {
		if component := w.labels["app.kubernetes.io/component"]; component == "edge" || component == "service" {
			found = append(found, w)
		}
	}
	return found
}

// callersLearn is the longest time until every caller knows the address of a pod that has become ready: the control plane takes 2 s, a
// DNS server may answer from its cache for 30 s, and callers ask once every discovery.Interval.
const callersLearn = 32*time.Second + discovery.Interval

// checkStop checks that a pod which ends serves until its callers know the others, that it then has time to stop, that a rollout never
// removes pods first, and that a node or a zone does not have all.
func checkStop(c *cluster, complain complain) {
	for _, w := range c.serving() {
		d := named[*appsv1.Deployment](c, w.name)
		delay, err := time.ParseDuration(c.environment(&w.pod.Containers[0], "")["WAYBOOK_SHUTDOWN_DELAY"])
		if d != nil && (err != nil || delay < callersLearn) {
			complain("%s stops before its callers know: after %v, %v", w.name, delay, err)
		}
		if grace := w.pod.TerminationGracePeriodSeconds; grace == nil || time.Duration(*grace)*time.Second <= delay+process.StopTimeout {
			complain("%s is killed before its stop, which takes %v and then up to %v", w.name, delay, process.StopTimeout)
		}
		if d == nil {
			continue
		}
		if rolling := d.Spec.Strategy.RollingUpdate; *rolling.MaxUnavailable != intstr.FromInt32(0) || rolling.MaxSurge.IntValue() < 1 {
			complain("%s: a rollout may remove pods before it adds others", w.name)
		}
		for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
			if !slices.ContainsFunc(w.pod.TopologySpreadConstraints, func(s corev1.TopologySpreadConstraint) bool {
				return s.TopologyKey == key && selects(s.LabelSelector, w.labels)
			}) {
				complain("%s is not spread over each %s", w.name, key)
			}
		}
	}
}

// checkSelectors checks that Services, budgets, monitors and workloads select the right pods, and ports that these have.
func checkSelectors(c *cluster, complain complain) {
	for _, w := range c.workloads() {
		if w.selector != nil && (!selects(w.selector, w.labels) || len(c.behind(w.selector)) != 1) {
			complain("%s does not select exactly its own pods", w.name)
		}
	}
	for _, service := range all[*corev1.Service](c) {
		found := c.behind(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})
		if len(found) != 1 {
			complain("service %s selects %d workloads", service.Name, len(found))
			continue
		}
		for _, port := range service.Spec.Ports {
			// Callers of a headless service connect to the pods, by the port of the service.
			isHeadless := service.Spec.ClusterIP == corev1.ClusterIPNone
			target := portOf(&found[0].pod.Containers[0], port.TargetPort.StrVal)
			if target == 0 || isHeadless && target != port.Port || isHeadless == (service.Name == "edge" || service.Name == "mongodb") {
				complain("service %s: port %d targets %s, which is %d; headless: %v", service.Name, port.Port, port.TargetPort.String(), target, isHeadless)
			}
		}
	}
	for _, monitor := range all[*monitoringv1.PodMonitor](c) {
		if len(c.behind(&monitor.Spec.Selector)) != len(c.serving()) || *monitor.Spec.PodMetricsEndpoints[0].Port != "admin" || monitor.Labels["release"] == "" {
			complain("the monitor %s does not scrape every program, or Prometheus does not read it", monitor.Name)
		}
	}
}

// checkAddresses checks that a program listens on the ports that its pods declare, and calls existing services on their ports.
func checkAddresses(c *cluster, complain complain) {
	for _, w := range c.serving() {
		container := &w.pod.Containers[0]
		var called []string
		for _, argument := range container.Args {
			flag, value, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
			switch flag {
			case "http", "grpc":
				if want := portOf(container, flag); value != fmt.Sprintf(":%d", want) {
					complain("%s listens on %s and declares %d", w.name, value, want)
				}
			case "account", "album", "blog", "poi":
				called = append(called, flag)
				if s := named[*corev1.Service](c, flag); s == nil || value != fmt.Sprintf("dns:///%s:%d", flag, s.Spec.Ports[0].Port) {
					complain("%s: -%s %s is not the address of that service", w.name, flag, value)
				}
			}
		}
		want := map[string][]string{"edge": {"account", "album", "blog", "poi"}, "album": {"account"}, "blog": {"account"}, "poi": {"account"}}
		if !slices.Equal(called, want[w.name]) {
			complain("%s calls %v", w.name, called)
		}
	}
}

// checkEntrance checks that one way in leads to the port of the edge, on each path that it serves, and that the edge believes one proxy.
func checkEntrance(c *cluster, complain complain) {
	var paths []string
	service := named[*corev1.Service](c, "edge")
	for _, ingress := range all[*networkingv1.Ingress](c) {
		for _, each := range ingress.Spec.Rules[0].HTTP.Paths {
			if to := each.Backend.Service; to.Name != "edge" || to.Port.Name != service.Spec.Ports[0].Name {
				complain("the ingress leads to %v", to)
			}
			paths = append(paths, each.Path)
		}
	}
	for _, route := range all[*gatewayv1.HTTPRoute](c) {
		for _, match := range route.Spec.Rules[0].Matches {
			paths = append(paths, *match.Path.Value)
		}
		if to := route.Spec.Rules[0].BackendRefs[0]; to.Name != "edge" || int32(*to.Port) != service.Spec.Ports[0].Port {
			complain("the route leads to %v", to)
		}
	}
	if !slices.Equal(paths, []string{"/API.php", "/api.php"}) {
		complain("the paths from outside are %v", paths)
	}
	set := c.environment(&c.behind(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})[0].pod.Containers[0], "")
	if set["WAYBOOK_TRUSTED_PROXIES"] != "1" || set["WAYBOOK_USER_WRITES"] == "0" || set["WAYBOOK_CLIENT_LONG_REPLIES"] == "0" ||
		(set["WAYBOOK_COOKIE_SECURE"] == "always") != (c.overlay != "dev") {
		complain("the edge has no limits, no secure cookie, or other proxies: %v", set)
	}
}

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

func TestTheReadmeNamesTheSecretsThatOperatorsCreate(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variants() {
		for name, keys := range v.external() {
			for _, word := range append(keys, name) {
				if !strings.Contains(string(readme), "`"+word+"`") {
					t.Errorf("%v: the README does not name %s", v, word)
				}
			}
		}
	}
}

// checkReferences checks that every Secret, ConfigMap, key and volume that is named exists, and that each of them is used.
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
			if claim := volume.PersistentVolumeClaim; claim != nil && named[*corev1.PersistentVolumeClaim](c, claim.ClaimName) == nil && claim.ClaimName != "data-standalone-0" {
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

// checkCertificates checks that each program has a certificate whose first name is its identity, for the names by which it is dialled,
// and that no other certificate has an identity of the contracts.
func checkCertificates(c *cluster, complain complain) {
	rules, err := access.Contracts()
	if err != nil {
		complain("%v", err)
		return
	}
	identities := append(rules.Identities(), "backup", "reports", "standalone")
	for _, each := range all[*certificate](c) {
		from := named[*issuer](c, each.Spec.IssuerRef.Name)
		if from == nil || each.Spec.RenewBefore.Duration <= 0 || each.Spec.RenewBefore.Duration >= each.Spec.Duration.Duration {
			complain("certificate %s has no issuer, or is not renewed in time", each.Name)
		}
		if each.Spec.IsCA {
			continue
		}
		if names := each.Spec.DNSNames; len(names) == 0 || names[0] != each.Name || each.Spec.SecretName != "waybook-"+each.Name+"-tls" ||
			slices.ContainsFunc(names[1:], func(name string) bool { return slices.Contains(identities, name) }) {
			complain("certificate %s of %s has the names %v", each.Name, each.Spec.SecretName, names)
		}
	}
	for _, w := range c.workloads() {
		at := path.Dir(c.environment(&w.pod.Containers[0], "")["WAYBOOK_TLS_CERT"])
		if at == "." {
			continue
		}
		mount := slices.IndexFunc(w.pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == at })
		if mount < 0 {
			complain("%s: nothing is mounted at %s", w.name, at)
			continue
		}
		if init := w.pod.InitContainers; c.overlay == "dev" {
			if len(init) != 1 || !slices.Contains(init[0].Args, at) || init[0].Env[0].ValueFrom.FieldRef.FieldPath != "metadata.labels['app.kubernetes.io/name']" {
				complain("%s makes no certificate", w.name)
			}
			continue
		}
		found := named[*certificate](c, w.name)
		volume := slices.IndexFunc(w.pod.Volumes, func(v corev1.Volume) bool { return v.Name == w.pod.Containers[0].VolumeMounts[mount].Name })
		if found == nil || w.pod.Volumes[volume].Secret == nil || w.pod.Volumes[volume].Secret.SecretName != found.Spec.SecretName || !slices.Contains(found.Spec.Usages, "client auth") {
			complain("%s has no certificate of its own at %s", w.name, at)
		} else if s := named[*corev1.Service](c, w.name); s != nil && w.name != "edge" {
			// By these, callers of other namespaces dial it, and waybookctl through kubectl port-forward.
			if !slices.Equal(found.Spec.DNSNames, []string{w.name, w.name + "." + c.namespace + ".svc", "localhost"}) ||
				!slices.Equal(found.Spec.IPAddresses, []string{"127.0.0.1"}) || !slices.Contains(found.Spec.Usages, "server auth") {
				complain("the certificate of %s is for %v %v", w.name, found.Spec.DNSNames, found.Spec.IPAddresses)
			}
		}
	}
}

// checkReplicas checks that each program is scaled from two pods on, that a node can be drained, and that a store has one writer.
func checkReplicas(c *cluster, complain complain) {
	for _, d := range all[*appsv1.Deployment](c) {
		scaler, budget := named[*autoscalingv2.HorizontalPodAutoscaler](c, d.Name), named[*policyv1.PodDisruptionBudget](c, d.Name)
		if d.Spec.Replicas != nil || (scaler == nil) != (c.overlay == "dev") ||
			scaler != nil && (scaler.Spec.ScaleTargetRef.Name != d.Name || *scaler.Spec.MinReplicas < 2 || scaler.Spec.MaxReplicas < *scaler.Spec.MinReplicas) {
			complain("%s is not scaled", d.Name)
		}
		if budget == nil || *budget.Spec.MaxUnavailable != intstr.FromInt32(1) || !selects(budget.Spec.Selector, d.Spec.Template.Labels) || len(c.behind(budget.Spec.Selector)) != 1 {
			complain("the budget of %s lets no node be drained, or all pods be evicted", d.Name)
		}
	}
	for _, s := range all[*appsv1.StatefulSet](c) {
		if s.Spec.Replicas == nil || *s.Spec.Replicas != 1 || s.Spec.PodManagementPolicy != appsv1.ParallelPodManagement || s.Spec.PersistentVolumeClaimRetentionPolicy != nil {
			complain("%s has several writers, waits for a broken pod, or may lose its volume", s.Name)
		}
	}
}

// checkImages checks that each container runs the right image, that the Dockerfile has its target, and that it has a digest, or a tag
// other than latest.
func checkImages(c *cluster, complain complain) {
	dockerfile, err := os.ReadFile("../Dockerfile")
	if err != nil {
		complain("%v", err)
	}
	for _, w := range c.workloads() {
		for _, container := range w.containers() {
			_, tag, _ := strings.Cut(path.Base(container.Image), ":")
			program, isOurs := ours(container.Image)
			if tag == "" || tag == "latest" || !isOurs && container.Image != "mongo:8.0" || isOurs && c.overlay == "dev" && tag != "dev" {
				complain("%s: image %s", w.name, container.Image)
			}
			if isOurs && program != w.name && program != "waybookctl" || isOurs && !strings.Contains(string(dockerfile), "\nFROM base AS "+program+"\n") {
				complain("%s runs %s", w.name, container.Image)
			}
		}
	}
}

// checkBackups checks that a backup runs every night, one at a time, with rights and volumes for nothing else, and that nothing restores
// by itself.
func checkBackups(c *cluster, complain complain) {
	for _, j := range all[*batchv1.CronJob](c) {
		s := j.Spec
		isRestore := j.Name == "restore"
		if s.TimeZone == nil || *s.TimeZone != "Etc/UTC" || !isRestore && (s.ConcurrencyPolicy != batchv1.ForbidConcurrent || !strings.HasSuffix(s.Schedule, " * * *")) ||
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
	if !slices.Equal(c.program("backup").Args, []string{"store", "backup", "/backups", "--keep=7"}) || !slices.Equal(mounts("backup"), []string{"/backups=backups"}) ||
		c.environment(c.program("backup"), "")["WAYBOOK_ADDRESS"] != "standalone:9090" || set["WAYBOOK_CLIENTS"] != "backup=/waybook.store.v1.StoreService/Backup" {
		complain("backups are %v to %v with the rights %s", c.program("backup").Args, mounts("backup"), set["WAYBOOK_CLIENTS"])
	}
	if !slices.Equal(c.program("restore").Args, []string{"store", "restore", "/backups", "--data=/data"}) ||
		!slices.Equal(mounts("restore"), []string{"/backups=backups", "/data=data-standalone-0"}) || !slices.Contains(c.program("standalone").Args, "-data=/data") {
		complain("a restore is %v of %v", c.program("restore").Args, mounts("restore"))
	}
}

// checkAlerts checks that people can follow the link of an alert wherever they read it.
func checkAlerts(c *cluster, complain complain) {
	for _, rule := range all[*monitoringv1.PrometheusRule](c) {
		for _, alert := range rule.Spec.Groups[0].Rules {
			link, err := url.Parse(alert.Annotations["runbook_url"])
			if err != nil || link.Scheme != "https" || link.Fragment != strings.ToLower(alert.Alert) || rule.Labels["release"] == "" {
				complain("the runbook of %s is %s, or Prometheus does not read the rule", alert.Alert, link)
			}
		}
	}
}
