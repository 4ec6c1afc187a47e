package manifests_test

import (
	"slices"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/waybook/waybook/internal/longform"
)

// mutation is a plausible mistake, and the check that must find it.
type mutation struct {
	name, check string
	mutate      func(*cluster)
}

// pod returns the pod of a workload, and program its container.
func (c *cluster) pod(name string) *corev1.PodSpec {
	for _, w := range c.workloads() {
		if w.name == name {
			return &w.template.Spec
		}
	}
	panic("no workload " + name)
}

func (c *cluster) program(name string) *corev1.Container { return &c.pod(name).Containers[0] }

func (c *cluster) policy(name string) *networkingv1.NetworkPolicySpec {
	for _, p := range c.policies {
		if p.Name == name {
			return &p.Spec
		}
	}
	panic("no policy " + name)
}

// setVariable changes a variable of a container's environment.
func setVariable(container *corev1.Container, variable corev1.EnvVar) {
	n := slices.IndexFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
	container.Env[n] = variable
}

func monitorOf(name, port string) *monitoringv1.PodMonitor {
	return &monitoringv1.PodMonitor{Spec: monitoringv1.PodMonitorSpec{
		Selector:            metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": name}},
		PodMetricsEndpoints: []monitoringv1.PodMetricsEndpoint{{Port: &port}},
	}}
}

// mutations apply to dev with cert-manager and monitoring.
func mutations() []mutation {
	return []mutation{
		{"a namespace that enforces less", "security", func(c *cluster) {
			c.namespaces[0].Labels["pod-security.kubernetes.io/enforce"] = "baseline"
		}},
		{"a program as root", "security", func(c *cluster) { c.pod("blog").SecurityContext.RunAsUser = ptr.To[int64](0) }},
		{"a container with capabilities", "security", func(c *cluster) { c.program("poi").SecurityContext.Capabilities = nil }},
		{"a Job without seccomp", "security", func(c *cluster) { c.jobs[0].Spec.Template.Spec.SecurityContext.SeccompProfile = nil }},
		{"an init container that may gain privileges", "security", func(c *cluster) {
			c.statefulSets[0].Spec.Template.Spec.InitContainers[0].SecurityContext.AllowPrivilegeEscalation = ptr.To(true)
		}},
		{"a token", "security", func(c *cluster) { c.pod("edge").AutomountServiceAccountToken = nil }},
		{"service links", "security", func(c *cluster) { c.pod("edge").EnableServiceLinks = nil }},
		{"an image that can be written to", "security", func(c *cluster) { c.program("edge").SecurityContext.ReadOnlyRootFilesystem = nil }},

		{"no limit", "resources", func(c *cluster) { delete(c.program("edge").Resources.Limits, corev1.ResourceMemory) }},
		{"no request", "resources", func(c *cluster) { delete(c.program("edge").Resources.Requests, corev1.ResourceCPU) }},
		{"a limit close to GOMEMLIMIT", "resources", func(c *cluster) {
			c.program("edge").Resources.Limits[corev1.ResourceMemory] = resource.MustParse("70Mi")
		}},
		{"GOMEMLIMIT of the limit itself", "resources", func(c *cluster) {
			setVariable(c.program("edge"), corev1.EnvVar{Name: "GOMEMLIMIT", ValueFrom: &corev1.EnvVarSource{
				ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: "program", Resource: "limits.memory"}}})
		}},
		{"a literal GOMEMLIMIT", "resources", func(c *cluster) {
			setVariable(c.program("edge"), corev1.EnvVar{Name: "GOMEMLIMIT", Value: "190MiB"})
		}},
		{"a literal GOMAXPROCS", "resources", func(c *cluster) {
			setVariable(c.program("edge"), corev1.EnvVar{Name: "GOMAXPROCS", Value: "4"})
		}},

		{"a probe of another port", "probes", func(c *cluster) { c.program("album").LivenessProbe.GRPC.Port = 9092 }},
		{"a probe of a service that is not served", "probes", func(c *cluster) {
			c.program("album").ReadinessProbe.GRPC.Service = ptr.To("ready")
		}},
		{"liveness that asks the store", "probes", func(c *cluster) { c.program("album").LivenessProbe.GRPC.Service = ptr.To("readiness") }},
		{"no startup probe", "probes", func(c *cluster) { c.program("album").StartupProbe = nil }},
		{"a startup probe that waits for readiness", "probes", func(c *cluster) {
			c.program("album").StartupProbe.GRPC.Service = ptr.To("readiness")
		}},
		{"a rollout that is given up during a long start", "probes", func(c *cluster) { c.deployments[0].Spec.ProgressDeadlineSeconds = nil }},
		{"a preparation that is ended during a long build", "probes", func(c *cluster) {
			for _, j := range c.jobs {
				j.Spec.ActiveDeadlineSeconds = ptr.To[int64](1800)
			}
		}},
		{"another admin port", "probes", func(c *cluster) {
			setVariable(c.program("album"), corev1.EnvVar{Name: "WAYBOOK_ADMIN", Value: ":8082"})
		}},
		{"an impatient probe", "probes", func(c *cluster) { c.program("album").ReadinessProbe.TimeoutSeconds = 1 }},
		{"a probe of MongoDB elsewhere", "probes", func(c *cluster) {
			c.statefulSets[0].Spec.Template.Spec.Containers[0].ReadinessProbe.TCPSocket.Port = intstr.FromString("mongo")
		}},

		{"too little time to stop", "stop", func(c *cluster) { c.pod("edge").TerminationGracePeriodSeconds = ptr.To[int64](55) }},
		{"no time to stop", "stop", func(c *cluster) { c.pod("edge").TerminationGracePeriodSeconds = nil }},
		{"no wait before the stop", "stop", func(c *cluster) {
			c.program("edge").Env = slices.DeleteFunc(c.program("edge").Env, func(v corev1.EnvVar) bool { return v.Name == "WAYBOOK_SHUTDOWN_DELAY" })
		}},
		{"a stop before the caches of DNS servers are over", "stop", func(c *cluster) {
			setVariable(c.program("album"), corev1.EnvVar{Name: "WAYBOOK_SHUTDOWN_DELAY", Value: "5s"})
		}},
		{"a hook before the stop", "stop", func(c *cluster) {
			c.program("album").Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 5}}}
		}},
		{"a rollout that removes pods first", "stop", func(c *cluster) {
			c.deployments[0].Spec.Strategy.RollingUpdate.MaxUnavailable = ptr.To(intstr.FromString("25%"))
		}},
		{"all pods on one node", "stop", func(c *cluster) { c.pod("edge").TopologySpreadConstraints = nil }},
		{"the wrong pods spread", "stop", func(c *cluster) {
			c.pod("edge").TopologySpreadConstraints[0].LabelSelector.MatchLabels["app.kubernetes.io/name"] = "poi"
		}},

		{"a selector of no pods", "services", func(c *cluster) { c.service("poi").Spec.Selector["app.kubernetes.io/name"] = "pois" }},
		{"a selector of all pods", "services", func(c *cluster) {
			c.service("poi").Spec.Selector = map[string]string{"app.kubernetes.io/part-of": "waybook"}
		}},
		{"a target port that does not exist", "services", func(c *cluster) { c.service("poi").Spec.Ports[0].TargetPort = intstr.FromString("rpc") }},
		{"an address that is not balanced", "services", func(c *cluster) { c.service("poi").Spec.ClusterIP = "" }},
		{"a deployment that loses its pods", "services", func(c *cluster) {
			c.deployments[0].Spec.Template.Labels["app.kubernetes.io/name"] = "x"
		}},
		{"a StatefulSet without its service", "services", func(c *cluster) { c.statefulSets[0].Spec.ServiceName = "mongo" }},
		{"a MongoDB whose address changes", "services", func(c *cluster) { c.service("mongodb").Spec.ClusterIP = corev1.ClusterIPNone }},
		{"a member that cannot find itself", "services", func(c *cluster) { c.pod("mongodb").HostAliases = nil }},

		{"a listener elsewhere", "addresses", func(c *cluster) { c.program("poi").Args[0] = "-grpc=:9095" }},
		{"a call to an unknown service", "addresses", func(c *cluster) { c.program("poi").Args[1] = "-account=dns:///accounts:9091" }},
		{"a call to the wrong port", "addresses", func(c *cluster) { c.program("poi").Args[1] = "-account=dns:///account:9092" }},
		{"a call that is not balanced", "addresses", func(c *cluster) { c.program("poi").Args[1] = "-account=account:9091" }},
		{"a call to the default address", "addresses", func(c *cluster) { c.program("edge").Args = c.program("edge").Args[:4] }},

		{"no way in", "entrance", func(c *cluster) { c.ingresses = nil }},
		{"an ingress to a port that does not exist", "entrance", func(c *cluster) {
			c.ingresses[0].Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Name = "https"
		}},
		{"an ingress of another path", "entrance", func(c *cluster) { c.ingresses[0].Spec.Rules[0].HTTP.Paths[0].Path = "/" }},

		{"a monitor of no pods", "monitors", func(c *cluster) { c.podMonitors = append(c.podMonitors, monitorOf("x", "admin")) }},
		{"a monitor of another port", "monitors", func(c *cluster) { c.podMonitors = append(c.podMonitors, monitorOf("edge", "metrics")) }},

		{"a Secret that does not exist", "references", func(c *cluster) { c.secrets = nil }},
		{"a key that does not exist", "references", func(c *cluster) {
			for _, s := range c.secrets {
				delete(s.Data, "keyfile")
			}
		}},
		{"settings that do not exist", "references", func(c *cluster) { c.configMaps = c.configMaps[1:] }},
		{"unused settings", "references", func(c *cluster) { c.program("blog").EnvFrom = nil }},
		{"a mount of nothing", "references", func(c *cluster) { c.pod("blog").Volumes[0].Name = "certificates" }},
		{"a certificate mounted elsewhere", "references", func(c *cluster) { c.program("blog").VolumeMounts[0].MountPath = "/tls" }},
		{"a certificate that does not exist", "references", func(c *cluster) {
			c.pod("blog").Volumes[0].Secret.SecretName = "waybook-blogs-tls"
		}},

		{"no certificates", "certificates", func(c *cluster) { c.certificates = nil }},
		{"a certificate for servers only", "certificates", func(c *cluster) { c.certificate("waybook-poi-tls").Spec.Usages = []string{"server auth"} }},
		{"a certificate without the name", "certificates", func(c *cluster) { c.certificate("waybook-poi-tls").Spec.DNSNames = []string{"poi.waybook.svc"} }},
		{"a certificate without the namespace", "certificates", func(c *cluster) {
			c.certificate("waybook-poi-tls").Spec.DNSNames = []string{"poi", "poi.other.svc", "localhost"}
		}},
		{"a certificate that port-forward cannot use", "certificates", func(c *cluster) { c.certificate("waybook-poi-tls").Spec.IPAddresses = nil }},
		{"no issuer", "certificates", func(c *cluster) { c.issuers = c.issuers[:1] }},
		{"a renewal that is late", "certificates", func(c *cluster) {
			spec := &c.certificate("waybook-poi-tls").Spec
			spec.RenewBefore = spec.Duration
		}},

		{"a budget that allows no eviction", "replicas", func(c *cluster) { c.budgets[0].Spec.MaxUnavailable = ptr.To(intstr.FromInt32(0)) }},
		{"a budget that allows eviction of all replicas", "replicas", func(c *cluster) { c.budgets[0].Spec.MaxUnavailable = ptr.To(intstr.FromInt32(2)) }},
		{"a budget of nothing", "replicas", func(c *cluster) { c.budgets[0].Spec.Selector.MatchLabels["app.kubernetes.io/name"] = "x" }},
		{"no budget", "replicas", func(c *cluster) { c.budgets = c.budgets[1:] }},
		{"members that nobody initiates", "replicas", func(c *cluster) { c.statefulSets[0].Spec.Replicas = ptr.To[int32](3) }},

		{"a program that requests a core on a laptop", "requests", func(c *cluster) {
			c.program("edge").Resources.Requests[corev1.ResourceCPU] = resource.MustParse("250m")
		}},
		{"a program that requests much memory on a laptop", "requests", func(c *cluster) {
			c.program("edge").Resources.Requests[corev1.ResourceMemory] = resource.MustParse("192Mi")
		}},
		{"two pods of a program on a laptop", "requests", func(c *cluster) {
			for _, d := range c.deployments {
				d.Spec.Replicas = ptr.To[int32](4)
			}
		}},
		{"an init container that requests a core on a laptop", "requests", func(c *cluster) {
			c.statefulSets[0].Spec.Template.Spec.InitContainers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
		}},

		{"the account of everybody", "accounts", func(c *cluster) { c.pod("edge").ServiceAccountName = "" }},
		{"the account of another program", "accounts", func(c *cluster) { c.pod("edge").ServiceAccountName = "poi" }},
		{"an account that mounts a token", "accounts", func(c *cluster) { c.accounts[0].AutomountServiceAccountToken = nil }},
		{"no accounts", "accounts", func(c *cluster) { c.accounts = nil }},
		{"a token in a volume", "rights", func(c *cluster) {
			c.pod("edge").Volumes = append(c.pod("edge").Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}})
		}},
		{"a priority without its class", "priority", func(c *cluster) { c.pod("edge").PriorityClassName = "waybook" }},

		{"a runbook of the repository's own", "runbooks", setRunbook("docs/operations.md#waybooktargetdown")},
		{"the runbook of another alert", "runbooks", setRunbook("https://example.com/operations#waybooktargetup")},

		{"an image without a tag", "images", func(c *cluster) { c.program("edge").Image = "waybook/edge" }},
		{"the latest image", "images", func(c *cluster) { c.program("edge").Image = "waybook/edge:latest" }},
		{"an image that is not built here", "images", func(c *cluster) { c.program("edge").Image = "waybook/edges:dev" }},
		{"another program's image", "images", func(c *cluster) { c.program("edge").Image = "waybook/poi:dev" }},
		{"an image from another registry", "images", func(c *cluster) { c.program("edge").Image = "example.com/edge:1" }},
		{"a tag that was not loaded", "images", func(c *cluster) { c.program("edge").Image = "waybook/edge:v1" }},

		{"proxies in all private networks", "clients", setEdge("WAYBOOK_TRUSTED_PROXIES", "10.0.0.0/8,172.16.0.0/12,fd00::/8")},
		{"no proxy, so that all clients are one", "clients", setEdge("WAYBOOK_TRUSTED_PROXIES", "")},
		{"more proxies than there are", "clients", setEdge("WAYBOOK_TRUSTED_PROXIES", "2")},
		{"no limit of a user", "clients", setEdge("WAYBOOK_USER_WRITES", "0")},
		{"no limit of an address", "clients", setEdge("WAYBOOK_CLIENT_LONG_REPLIES", "0")},

		{"no default", "network", func(c *cluster) { c.policy("default-deny").PolicyTypes = nil }},
		{"open egress", "network", func(c *cluster) {
			c.policy("dns").Egress = append(c.policy("dns").Egress, networkingv1.NetworkPolicyEgressRule{})
		}},
		{"an arrow from everywhere", "network", func(c *cluster) { c.policy("services").Ingress[0].From = nil }},
		{"an arrow from other namespaces", "network", func(c *cluster) {
			c.policy("mongodb").Ingress[0].From[0].NamespaceSelector = c.policy("default-deny").PodSelector.DeepCopy()
		}},
		{"all ports", "network", func(c *cluster) { c.policy("monitoring").Ingress[0].Ports = nil }},
		{"a missing arrow", "network", func(c *cluster) { c.policy("to-account").Egress = nil }},
		{"an edge for everybody", "network", func(c *cluster) { c.policy("entrance").Ingress[0].From = nil }},
		{"an edge for the controller's neighbours", "network", func(c *cluster) { c.policy("entrance").Ingress[0].From[0].PodSelector = nil }},
		{"a port that does not exist", "network", func(c *cluster) { c.policy("account").Ingress[0].Ports[0].Port = ptr.To(intstr.FromString("rpc")) }},
	}
}

// scalingMutations apply to prod, which has the autoscalers.
func scalingMutations() []mutation {
	return []mutation{
		{"an autoscaler of nothing", "scaling", func(c *cluster) { c.autoscalers[0].Spec.ScaleTargetRef.Name = "edges" }},
		{"a single replica", "scaling", func(c *cluster) { c.autoscalers[0].Spec.MinReplicas = ptr.To[int32](1) }},
		{"a maximum below the minimum", "scaling", func(c *cluster) { c.autoscalers[0].Spec.MaxReplicas = 1 }},
		{"a scale of a metric that nobody reports", "scaling", func(c *cluster) {
			c.autoscalers[0].Spec.Metrics = append(c.autoscalers[0].Spec.Metrics, autoscalingv2.MetricSpec{Pods: &autoscalingv2.PodsMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "waybook_gate_inside"}, Target: autoscalingv2.MetricTarget{AverageValue: ptr.To(resource.MustParse("250m"))},
			}})
		}},
		{"a fixed number of replicas despite an autoscaler", "scaling", func(c *cluster) { c.deployments[0].Spec.Replicas = ptr.To[int32](2) }},
	}
}

// singleMutations apply to single with cert-manager and monitoring.
func singleMutations() []mutation {
	return []mutation{
		{"backups as root", "security", func(c *cluster) { c.pod("backup").SecurityContext.RunAsUser = ptr.To[int64](0) }},
		{"a restore with capabilities", "security", func(c *cluster) { c.program("restore").SecurityContext.Capabilities = nil }},
		{"a priority without its class", "priority", func(c *cluster) { c.pod("standalone").PriorityClassName = "waybook" }},
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
		{"an hour of the cluster", "backups", func(c *cluster) { c.cronJob("backup").Spec.TimeZone = nil }},
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

// setEdge returns a mutation that changes a setting of the edge.
func setEdge(name, value string) func(*cluster) {
	return func(c *cluster) {
		for _, settings := range c.configMaps {
			if _, has := settings.Data[name]; has {
				settings.Data[name] = value
			}
		}
	}
}

// setRunbook returns a mutation that changes the link of the first alert.
func setRunbook(link string) func(*cluster) {
	return func(c *cluster) { c.rules[0].Spec.Groups[0].Rules[0].Annotations["runbook_url"] = link }
}

func TestEachCheckFindsItsMistakes(t *testing.T) {
	longform.Only(t)
	seen := map[string]bool{}
	for _, each := range []struct {
		variant
		checks    map[string]func(*cluster, complain)
		mutations []mutation
	}{
		{variant{overlay: "dev", components: []string{"cert-manager", "monitoring"}}, checks(), mutations()},
		{variant{overlay: "prod"}, checks(), scalingMutations()},
		{variant{overlay: "single", components: []string{"cert-manager-single", "monitoring"}}, singleChecks(), singleMutations()},
	} {
		decoded, err := decode(each.variant, render(t, each.variant))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range each.mutations {
			t.Run(each.overlay+" "+m.check+": "+m.name, func(t *testing.T) {
				seen[m.check] = true
				c := decoded.copied(t)
				m.mutate(c)
				if len(complaints(each.checks[m.check], c)) == 0 {
					t.Error("the check finds nothing wrong")
				}
			})
		}
	}
	for _, all := range []map[string]func(*cluster, complain){checks(), singleChecks()} {
		for name := range all {
			if !seen[name] {
				t.Errorf("no mutation makes the check %s fail", name)
			}
		}
	}
}
