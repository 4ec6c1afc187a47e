package manifests_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// cluster holds the objects of a variant.
type cluster struct {
	variant      variant
	namespaces   []*corev1.Namespace
	accounts     []*corev1.ServiceAccount
	priorities   []*schedulingv1.PriorityClass
	deployments  []*appsv1.Deployment
	statefulSets []*appsv1.StatefulSet
	jobs         []*batchv1.Job
	cronJobs     []*batchv1.CronJob
	claims       []*corev1.PersistentVolumeClaim
	services     []*corev1.Service
	configMaps   []*corev1.ConfigMap
	secrets      []*corev1.Secret
	autoscalers  []*autoscalingv2.HorizontalPodAutoscaler
	budgets      []*policyv1.PodDisruptionBudget
	policies     []*networkingv1.NetworkPolicy
	ingresses    []*networkingv1.Ingress
	routes       []*gatewayv1.HTTPRoute
	podMonitors  []*monitoringv1.PodMonitor
	rules        []*monitoringv1.PrometheusRule
	certificates []*certificate
	issuers      []*issuer

	// objects are all objects but cert-manager's, which are in documents, by kind.
	objects   []runtime.Object
	documents map[string][][]byte
}

// newScheme knows the kinds that deploy/k8s may contain, and no others. Roles are not among them, which
// give accounts rights.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, autoscalingv2.AddToScheme,
		policyv1.AddToScheme, schedulingv1.AddToScheme, networkingv1.AddToScheme, gatewayv1.Install, monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// decode decodes documents strictly: an unknown or repeated field is an error.
func decode(v variant, documents [][]byte) (*cluster, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	c := &cluster{variant: v, documents: map[string][][]byte{}}
	for _, document := range documents {
		var kind metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return nil, err
		}
		if kind.APIVersion == certManager {
			c.documents[kind.Kind] = append(c.documents[kind.Kind], document)
			err = c.addCertManager(kind.Kind, document)
		} else {
			var object runtime.Object
			if object, _, err = decoder.Decode(document, nil, nil); err == nil {
				err = c.add(object)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind.Kind, kind.Name, err)
		}
		namespace := cmp.Or(v.namespace, "waybook")
		switch kind.Kind {
		case "Namespace":
			namespace = ""
			if kind.Name != cmp.Or(v.namespace, "waybook") {
				return nil, fmt.Errorf("the namespace is %s", kind.Name)
			}
		case "PriorityClass":
			namespace = ""
		}
		if kind.Namespace != namespace {
			return nil, fmt.Errorf("%s %s is in the namespace %q", kind.Kind, kind.Name, kind.Namespace)
		}
	}
	return c, nil
}

// copied returns a copy, which a test may change. It takes a tenth of the time of decode.
func (c *cluster) copied(t *testing.T) *cluster {
	t.Helper()
	made := &cluster{variant: c.variant, documents: c.documents}
	for _, object := range c.objects {
		if err := made.add(object.DeepCopyObject()); err != nil {
			t.Fatal(err)
		}
	}
	for kind, documents := range c.documents {
		for _, document := range documents {
			if err := made.addCertManager(kind, document); err != nil {
				t.Fatal(err)
			}
		}
	}
	return made
}

func (c *cluster) add(object runtime.Object) error {
	c.objects = append(c.objects, object)
	switch o := object.(type) {
	case *corev1.Namespace:
		c.namespaces = append(c.namespaces, o)
	case *corev1.ServiceAccount:
		c.accounts = append(c.accounts, o)
	case *schedulingv1.PriorityClass:
		c.priorities = append(c.priorities, o)
	case *appsv1.Deployment:
		c.deployments = append(c.deployments, o)
	case *appsv1.StatefulSet:
		c.statefulSets = append(c.statefulSets, o)
	case *batchv1.Job:
		c.jobs = append(c.jobs, o)
	case *batchv1.CronJob:
		c.cronJobs = append(c.cronJobs, o)
	case *corev1.PersistentVolumeClaim:
		c.claims = append(c.claims, o)
	case *corev1.Service:
		c.services = append(c.services, o)
	case *corev1.ConfigMap:
		c.configMaps = append(c.configMaps, o)
	case *corev1.Secret:
		c.secrets = append(c.secrets, o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		c.autoscalers = append(c.autoscalers, o)
	case *policyv1.PodDisruptionBudget:
		c.budgets = append(c.budgets, o)
	case *networkingv1.NetworkPolicy:
		c.policies = append(c.policies, o)
	case *networkingv1.Ingress:
		c.ingresses = append(c.ingresses, o)
	case *gatewayv1.HTTPRoute:
		c.routes = append(c.routes, o)
	case *monitoringv1.PodMonitor:
		c.podMonitors = append(c.podMonitors, o)
	case *monitoringv1.PrometheusRule:
		c.rules = append(c.rules, o)
	default:
		return fmt.Errorf("no check covers a %T", object)
	}
	return nil
}

// workload is an object that creates pods.
type workload struct {
	name     string
	selector *metav1.LabelSelector // nil for a Job
	template *corev1.PodTemplateSpec
}

// workloads returns all objects that create pods.
func (c *cluster) workloads() (all []workload) {
	for _, d := range c.deployments {
		all = append(all, workload{d.Name, d.Spec.Selector, &d.Spec.Template})
	}
	for _, s := range c.statefulSets {
		all = append(all, workload{s.Name, s.Spec.Selector, &s.Spec.Template})
	}
	for _, j := range c.jobs {
		all = append(all, workload{j.Labels["app.kubernetes.io/name"], nil, &j.Spec.Template}) // its own name has a hash
	}
	for _, j := range c.cronJobs {
		all = append(all, workload{j.Name, nil, &j.Spec.JobTemplate.Spec.Template})
	}
	return all
}

// containers returns the containers of a workload, including init containers.
func (w workload) containers() []*corev1.Container {
	var all []*corev1.Container
	for n := range w.template.Spec.InitContainers {
		all = append(all, &w.template.Spec.InitContainers[n])
	}
	for n := range w.template.Spec.Containers {
		all = append(all, &w.template.Spec.Containers[n])
	}
	return all
}

// port finds a port of the workload by name or number.
func (w workload) port(name string, number int32) (int32, bool) {
	for _, container := range w.containers() {
		for _, port := range container.Ports {
			if port.Name == name && name != "" || port.ContainerPort == number {
				return port.ContainerPort, true
			}
		}
	}
	return 0, false
}

func (c *cluster) service(name string) *corev1.Service {
	n := slices.IndexFunc(c.services, func(s *corev1.Service) bool { return s.Name == name })
	if n < 0 {
		return nil
	}
	return c.services[n]
}

func TestDecodingIsStrict(t *testing.T) {
	v := variant{overlay: "dev", components: []string{"cert-manager", "gateway-api", "monitoring"}}
	documents := render(t, v)
	for name, change := range map[string][2]string{
		"a misspelled field":                  {"revisionHistoryLimit:", "revisionHistoryLimits:"},
		"a field in the wrong place":          {"  podManagementPolicy:", "  enableServiceLinks:"},
		"a string for a number":               {"replicas: 1", "replicas: one"},
		"a kind that is not known":            {"kind: PodDisruptionBudget", "kind: PodDisruptionBudgets"},
		"a version that was removed":          {"apiVersion: policy/v1", "apiVersion: policy/v1beta1"},
		"a misspelled field of a route":       {"backendRefs:", "backends:"},
		"a misspelled field of a certificate": {"dnsNames:", "dnsName:"},
		"a misspelled field of an issuer":     {"selfSigned:", "selfsigned:"},
		"an object in another namespace":      {"namespace: waybook", "namespace: default"},
		"an invalid duration":                 {"duration: 2160h", "duration: 90d"},
		"an unchecked kind of cert-manager":   {"kind: Issuer\nmetadata", "kind: ClusterIssuer\nmetadata"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := make([][]byte, len(documents))
			found := false
			for n, document := range documents {
				changed[n] = bytes.ReplaceAll(document, []byte(change[0]), []byte(change[1]))
				found = found || !bytes.Equal(changed[n], document)
			}
			if !found {
				t.Fatalf("no document contains %q", change[0])
			}
			if _, err := decode(v, changed); err == nil {
				t.Error("the document was decoded")
			}
		})
	}
}
