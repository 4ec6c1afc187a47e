package manifests_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/waybook/waybook/internal/platform/discovery"
	"github.com/waybook/waybook/internal/platform/process"
)

// complain reports a fault.
type complain func(format string, args ...any)

// checks are what every variant passes. A mistake in TestEachCheckFindsItsMistakes shows that each can fail.
func checks() map[string]func(*cluster, complain) {
	return map[string]func(*cluster, complain){
		"security": checkSecurity, "resources": checkResources, "probes": checkProbes, "stop": checkStop,
		"selectors": checkSelectors,
		"addresses": checkAddresses, "entrance": checkEntrance, "references": checkReferences,
		"certificates": checkCertificates,
		"replicas":     checkReplicas, "images": checkImages, "network": checkNetwork, "backups": checkBackups,
		"alerts": checkAlerts,
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

// checkSecurity checks that the namespace enforces the restricted standard, which every pod meets, and that each
// pod has an account of its own, without a token, and cannot write to its image.
func checkSecurity(c *cluster, complain complain) {
	if n := named[*corev1.Namespace](c, c.namespace); n == nil ||
		n.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		complain("the namespace does not enforce the restricted standard")
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		complain("%v", err)
		return
	}
	for _, w := range c.workloads() {
		restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
		if result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &metav1.ObjectMeta{},
			w.pod)); !result.Allowed {
			complain("%s: %s", w.name, result.ForbiddenDetail())
		}
		account := named[*corev1.ServiceAccount](c, w.pod.ServiceAccountName)
		if own := strings.Replace(strings.TrimSuffix(w.name, "-initiate"), "restore", "backup", 1); account == nil ||
			account.Name != own {
			complain("%s runs as the account %q", w.name, w.pod.ServiceAccountName)
		} else if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
			complain("the account %s mounts a token", account.Name)
		}
		if token, links := w.pod.AutomountServiceAccountToken, w.pod.EnableServiceLinks; token == nil || *token ||
			links == nil || *links {
			complain("%s gets a token, or variables of all services, such as WAYBOOK_PORT", w.name)
		}
		if slices.ContainsFunc(w.pod.Volumes, func(v corev1.Volume) bool {
			return v.Projected != nil ||
				v.HostPath != nil
		}) {
			complain("%s has a token, or a volume of its node", w.name)
		}
		for _, container := range w.containers() {
			if s := container.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil ||
				!*s.ReadOnlyRootFilesystem {
				complain("%s/%s can write to its image", w.name, container.Name)
			}
		}
	}
}

// dev leaves most of a laptop's cluster to others, also while each program is replaced.
var devCPU, devMemory = resource.MustParse("500m"), resource.MustParse("1280Mi")

// checkResources checks requests and limits, and that the Go runtime knows them. GOMEMLIMIT must be below the
// container's limit, so that Go collects garbage before the container is killed.
func checkResources(c *cluster, complain complain) {
	var cpu, memory resource.Quantity
	for _, w := range c.workloads() {
		for _, container := range w.containers() {
			requests, limits := container.Resources.Requests, container.Resources.Limits
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := requests[name], limits[name]
				if request.IsZero() || limit.IsZero() || request.Cmp(limit) > 0 {
					complain("%s/%s requests %s of %s, and its limit is %s", w.name, container.Name, request.String(),
						name, limit.String())
				}
			}
			if _, is := ours(container.Image); !is {
				continue
			}
			set := c.environment(container, "")
			if got, _ := strconv.ParseInt(set["GOMEMLIMIT"], 10, 64); got == 0 || got > limits.Memory().Value()*9/10 {
				complain("%s/%s: GOMEMLIMIT is %d, which leaves no room below %s", w.name, container.Name, got,
					limits.Memory())
			}
			if set["GOMAXPROCS"] != strconv.FormatInt(limits.Cpu().Value(), 10) {
				complain("%s/%s: GOMAXPROCS is %s, and the limit %s", w.name, container.Name, set["GOMAXPROCS"],
					limits.Cpu())
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

// longestStart is how long a pod may build indexes before it is ready, and longestOpening how long it may take
// until its admin port opens.
const longestStart, longestOpening = 4 * time.Hour, 5 * time.Minute

// checkProbes checks that the probes ask for services that the programs serve, on the admin port. A pod that starts
// for longestStart must be neither restarted nor given up, so only liveness decides over its start.
func checkProbes(c *cluster, complain complain) {
	for _, d := range all[*appsv1.Deployment](c) {
		if given := d.Spec.ProgressDeadlineSeconds; given == nil || time.Duration(*given)*time.Second < longestStart {
			complain("%s: a rollout is given up while a pod may still be starting", d.Name)
		}
	}
	if j := all[*batchv1.Job](c); c.overlay != "single" && !slices.ContainsFunc(j, func(j *batchv1.Job) bool {
		return strings.HasPrefix(j.Name, "prepare-") &&
			time.Duration(*j.Spec.ActiveDeadlineSeconds)*time.Second >= longestStart
	}) {
		complain("no Job prepares the store, or it is ended while it may still build indexes")
	}
	for _, w := range c.serving() {
		container := &w.pod.Containers[0]
		admin := portOf(container, "admin")
		if got := c.environment(container, "")["WAYBOOK_ADMIN"]; admin == 0 || got != fmt.Sprintf(":%d", admin) {
			complain("%s: the admin port is %d, and WAYBOOK_ADMIN is %q", w.name, admin, got)
		}
		for i, probe := range []*corev1.Probe{container.LivenessProbe, container.StartupProbe,
			container.ReadinessProbe} {
			want := []string{process.Liveness, process.Liveness, process.ReadinessName}[i]
			if probe == nil || probe.GRPC == nil || probe.GRPC.Service == nil || probe.GRPC.Port != admin ||
				*probe.GRPC.Service != want {
				complain("%s: a probe does not ask the admin port for %q", w.name, want)
			}
		}
		if probe := container.ReadinessProbe; probe != nil && probe.TimeoutSeconds <= 2 {
			complain("%s: readiness asks the store for up to 2 s, and the probe waits %d s", w.name,
				probe.TimeoutSeconds)
		}
		if probe := container.StartupProbe; probe != nil &&
			time.Duration(probe.PeriodSeconds*probe.FailureThreshold)*time.Second < longestOpening {
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

// callersLearn is the longest time until every caller knows the address of a pod that has become ready: the control
// plane takes 2 s, a DNS server may answer from its cache for 30 s, and callers ask once every discovery.Interval.
const callersLearn = 32*time.Second + discovery.Interval

// checkStop checks that a pod which ends serves until its callers know the others, that it then has time to stop,
// that a rollout never removes pods first, and that a node or a zone does not have all.
func checkStop(c *cluster, complain complain) {
	for _, w := range c.serving() {
		d := named[*appsv1.Deployment](c, w.name)
		delay, err := time.ParseDuration(c.environment(&w.pod.Containers[0], "")["WAYBOOK_SHUTDOWN_DELAY"])
		if d != nil && (err != nil || delay < callersLearn) {
			complain("%s stops before its callers know: after %v, %v", w.name, delay, err)
		}
		if grace := w.pod.TerminationGracePeriodSeconds; grace == nil ||
			time.Duration(*grace)*time.Second <= delay+process.StopTimeout {
			complain("%s is killed before its stop, which takes %v and then up to %v", w.name, delay,
				process.StopTimeout)
		}
		if d == nil {
			continue
		}
		if rolling := d.Spec.Strategy.RollingUpdate; *rolling.MaxUnavailable != intstr.FromInt32(0) ||
			rolling.MaxSurge.IntValue() < 1 {
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

// checkSelectors checks that Services, budgets, monitors and workloads select the right pods, and ports that these
// have.
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
			if target == 0 || isHeadless && target != port.Port || isHeadless == (service.Name == "edge" ||
				service.Name == "mongodb") {
				complain("service %s: port %d targets %s, which is %d; headless: %v", service.Name, port.Port,
					port.TargetPort.String(), target, isHeadless)
			}
		}
	}
	for _, monitor := range all[*monitoringv1.PodMonitor](c) {
		if len(c.behind(&monitor.Spec.Selector)) != len(c.serving()) ||
			*monitor.Spec.PodMetricsEndpoints[0].Port != "admin" || monitor.Labels["release"] == "" {
			complain("the monitor %s does not scrape every program, or Prometheus does not read it", monitor.Name)
		}
	}
}

// checkAddresses checks that a program listens on the ports that its pods declare, and calls existing services on
// their ports.
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
				if s := named[*corev1.Service](c, flag); s == nil ||
					value != fmt.Sprintf("dns:///%s:%d", flag, s.Spec.Ports[0].Port) {
					complain("%s: -%s %s is not the address of that service", w.name, flag, value)
				}
			}
		}
		want := map[string][]string{"edge": {"account", "album", "blog", "poi"}, "album": {"account"},
			"blog": {"account"}, "poi": {"account"}}
		if !slices.Equal(called, want[w.name]) {
			complain("%s calls %v", w.name, called)
		}
	}
}

// checkEntrance checks that one way in leads to the port of the edge, on each path that it serves, and that the
// edge believes one proxy.
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
		if to := route.Spec.Rules[0].BackendRefs[0]; to.Name != "edge" ||
			int32(*to.Port) != service.Spec.Ports[0].Port {
			complain("the route leads to %v", to)
		}
	}
	if !slices.Equal(paths, []string{"/API.php", "/api.php", "/upload/album", "/upload/poi", "/upload/user"}) {
		complain("the paths from outside are %v", paths)
	}
	set := c.environment(&c.behind(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})[0].pod.Containers[0], "")
	if set["WAYBOOK_TRUSTED_PROXIES"] != "1" || set["WAYBOOK_USER_WRITES"] == "0" ||
		set["WAYBOOK_CLIENT_LONG_REPLIES"] == "0" ||
		(set["WAYBOOK_COOKIE_SECURE"] == "always") != (c.overlay != "dev") {
		complain("the edge has no limits, no secure cookie, or other proxies: %v", set)
	}
}
