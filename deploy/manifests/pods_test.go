package manifests_test

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/waybook/waybook/deploy/rendered"
	"github.com/waybook/waybook/internal/platform/discovery"
	"github.com/waybook/waybook/internal/platform/process"
)

// complain reports a fault.
type complain func(format string, args ...any)

// checkSecurity checks that every pod meets the restricted standard, that the namespace enforces
// it, and some settings that the standard does not cover.
func checkSecurity(c *cluster, complain complain) {
	if len(c.namespaces) != 1 || c.namespaces[0].Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		complain("the namespace does not enforce the restricted standard")
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		complain("%v", err)
		return
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, w := range c.workloads() {
		spec := &w.template.Spec
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(restricted, &w.template.ObjectMeta, spec))
		if !result.Allowed {
			complain("%s: %s", w.name, result.ForbiddenDetail())
		}
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			complain("%s mounts a service account token", w.name)
		}
		if spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
			complain("%s gets variables of all services, such as WAYBOOK_PORT", w.name)
		}
		for _, container := range w.containers() {
			security := container.SecurityContext
			if security == nil || security.ReadOnlyRootFilesystem == nil || !*security.ReadOnlyRootFilesystem {
				complain("%s/%s can write to its image", w.name, container.Name)
			}
		}
	}
}

// checkResources checks requests and limits, and that the Go runtime knows them. GOMEMLIMIT must be
// below the container's limit, so that Go collects garbage before the container is killed.
func checkResources(c *cluster, complain complain) {
	for _, w := range c.workloads() {
		for _, container := range w.containers() {
			where := w.name + "/" + container.Name
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := container.Resources.Requests[name], container.Resources.Limits[name]
				if request.IsZero() || limit.IsZero() || request.Cmp(limit) > 0 {
					complain("%s requests %s of %s, and its limit is %s", where, request.String(), name, limit.String())
				}
			}
			if _, ours := programOf(container.Image); !ours {
				continue
			}
			memory := container.Resources.Limits[corev1.ResourceMemory]
			if got := resourceVariable(container, "GOMEMLIMIT"); got == 0 || got > memory.Value()*9/10 {
				complain("%s: GOMEMLIMIT is %d, which leaves no room below the limit of %s", where, got, memory.String())
			}
			cpu := container.Resources.Limits[corev1.ResourceCPU]
			if got := resourceVariable(container, "GOMAXPROCS"); got != cpu.Value() {
				complain("%s: GOMAXPROCS is %d, and the limit is %s", where, got, cpu.String())
			}
		}
	}
}

// resourceVariable returns the value that the kubelet sets for a variable that refers to the
// container's own resources. It returns 0 for any other variable: a literal would be forgotten when
// the resources change.
func resourceVariable(container *corev1.Container, name string) int64 {
	for _, variable := range container.Env {
		if variable.Name != name || variable.ValueFrom == nil || variable.ValueFrom.ResourceFieldRef == nil {
			continue
		}
		number, _ := rendered.Resource(container, variable.ValueFrom.ResourceFieldRef)
		return number
	}
	return 0
}

// longestStart is how long a pod may build indexes before it is ready.
const longestStart = 4 * time.Hour

// checkProbes checks that the probes ask for services that the programs serve, on the admin port.
// A pod that starts for longestStart must be neither restarted nor given up, so only liveness may
// decide over its start.
func checkProbes(c *cluster, complain complain) {
	for _, d := range c.deployments {
		if given := d.Spec.ProgressDeadlineSeconds; given == nil || time.Duration(*given)*time.Second < longestStart {
			complain("%s: a rollout is given up while a pod may still be starting", d.Name)
		}
		for _, container := range d.Spec.Template.Spec.Containers {
			admin := ":" + strconv.Itoa(int(portOf(container, "admin")))
			if got := value(container, "WAYBOOK_ADMIN"); got != admin {
				complain("%s: the admin port is %s, and WAYBOOK_ADMIN is %q", d.Name, admin, got)
			}
			for what, probe := range map[string]*corev1.Probe{
				"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe, "startup": container.StartupProbe,
			} {
				if probe == nil || probe.GRPC == nil || probe.GRPC.Service == nil || probe.GRPC.Port != portOf(container, "admin") {
					complain("%s: the %s probe does not ask the admin port over gRPC", d.Name, what)
					continue
				}
				want := process.Liveness
				if what == "readiness" {
					want = process.ReadinessName
				}
				if got := *probe.GRPC.Service; got != want {
					complain("%s: the %s probe asks for %q, not %q", d.Name, what, got, want)
				}
			}
			if probe := container.ReadinessProbe; probe != nil && probe.TimeoutSeconds <= 2 {
				complain("%s: readiness asks the store for up to 2 s, and the probe waits %d s", d.Name, probe.TimeoutSeconds)
			}
		}
	}
	for _, j := range c.jobs {
		if _, ours := programOf(j.Spec.Template.Spec.Containers[0].Image); !ours {
			continue
		}
		if given := j.Spec.ActiveDeadlineSeconds; given != nil && time.Duration(*given)*time.Second < longestStart {
			complain("%s is ended while it may still build indexes", j.Name)
		}
	}
	for _, s := range c.statefulSets {
		for _, container := range s.Spec.Template.Spec.Containers {
			for _, probe := range []*corev1.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
				if probe == nil || probe.TCPSocket == nil || portOf(container, probe.TCPSocket.Port.String()) == 0 {
					complain("%s: a probe asks no port of the container", s.Name)
				}
			}
		}
	}
}

// callersLearn is the longest time until every caller knows the address of a pod that has become
// ready: the control plane takes 2 s, a DNS server may answer from its cache for 30 s, and callers
// ask once every discovery.Interval.
const callersLearn = 32*time.Second + discovery.Interval

// checkStop checks that a pod which ends serves until its callers know the other pods, that it then
// has enough time to stop its program, and that a rollout never reduces the number of pods.
func checkStop(c *cluster, complain complain) {
	for _, d := range c.deployments {
		spec := d.Spec.Template.Spec
		grace := time.Duration(0)
		if spec.TerminationGracePeriodSeconds != nil {
			grace = time.Duration(*spec.TerminationGracePeriodSeconds) * time.Second
		}
		for _, container := range spec.Containers {
			before, err := time.ParseDuration(value(container, "WAYBOOK_SHUTDOWN_DELAY"))
			if err != nil || before < callersLearn {
				complain("%s stops before its callers know: after %v, %v", d.Name, before, err)
			}
			if grace <= before+process.StopTimeout {
				complain("%s is killed after %v, but stopping takes %v and then up to %v", d.Name, grace, before, process.StopTimeout)
			}
			if container.Lifecycle != nil {
				complain("%s has a hook that uses up its time to stop", d.Name)
			}
		}
		rolling := d.Spec.Strategy.RollingUpdate
		if rolling == nil || rolling.MaxUnavailable == nil || *rolling.MaxUnavailable != intstr.FromInt32(0) ||
			rolling.MaxSurge == nil || rolling.MaxSurge.IntValue() < 1 {
			complain("%s: a rollout may remove pods before it adds others", d.Name)
		}
		spread := func(key string) bool {
			return slices.ContainsFunc(spec.TopologySpreadConstraints, func(s corev1.TopologySpreadConstraint) bool {
				return s.TopologyKey == key && selects(s.LabelSelector, d.Spec.Template.Labels)
			})
		}
		if !spread(corev1.LabelHostname) || !spread(corev1.LabelTopologyZone) {
			complain("%s is not spread over nodes and zones", d.Name)
		}
	}
}

func portOf(container corev1.Container, name string) int32 {
	for _, port := range container.Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	return 0
}

func value(container corev1.Container, name string) string {
	for _, variable := range container.Env {
		if variable.Name == name {
			return variable.Value
		}
	}
	return fmt.Sprintf("no %s", name)
}
