// Package manifests_test checks deploy/k8s without a cluster: it renders each overlay as kubectl does, decodes it
// strictly, and compares what no schema can, such as ports with the programs and policies with who calls whom.
package manifests_test

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// variant is an overlay, with components that an operator adds to its list.
type variant struct {
	overlay    string
	components []string
}

func variants() []variant {
	return []variant{
		{"dev", nil}, {"dev", []string{"gateway-api", "monitoring", "tracing"}},
		{"prod", nil}, {"prod", []string{"caller", "gateway-api", "tracing"}},
		{"single", nil}, {"single", []string{"gateway-api", "monitoring", "tracing"}},
	}
}

func (v variant) String() string {
	return strings.Join(append([]string{v.overlay}, v.components...), "+")
}

// edit is a change that an operator makes: the text of a file of deploy/k8s, and its replacement.
type edit struct{ file, old, new string }

// render returns one YAML document for each object of a variant.
func render(t *testing.T, v variant, edits ...edit) (documents [][]byte) {
	t.Helper()
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS("../k8s")); err != nil {
		t.Fatal(err)
	}
	overlay := "overlays/" + v.overlay
	for _, component := range v.components {
		edits = append(edits, edit{overlay + "/kustomization.yaml", "\ncomponents:\n",
			"\ncomponents:\n  - ../../components/" + component + "\n"})
	}
	for _, e := range edits {
		file := filepath.Join(directory, e.file)
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), e.old) {
			t.Fatalf("%s has no %q: %v", e.file, e.old, err)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(content), e.old, e.new)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(),
		filepath.Join(directory, overlay))
	if err != nil {
		t.Fatalf("%s: %v", v, err)
	}
	for _, object := range rendered.Resources() {
		document, err := object.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, document)
	}
	return documents
}

// certificate has the fields of cert-manager's Certificate that the manifests use, and issuer those of its Issuer.
// cert-manager's own types are in a module with 200 dependencies.
type certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		SecretName  string          `json:"secretName"`
		CommonName  string          `json:"commonName,omitempty"`
		DNSNames    []string        `json:"dnsNames,omitempty"`
		IPAddresses []string        `json:"ipAddresses,omitempty"`
		IsCA        bool            `json:"isCA,omitempty"`
		Duration    metav1.Duration `json:"duration"`
		RenewBefore metav1.Duration `json:"renewBefore"`
		Usages      []string        `json:"usages,omitempty"`
		PrivateKey  struct {
			Algorithm      string `json:"algorithm"`
			Size           int    `json:"size"`
			RotationPolicy string `json:"rotationPolicy"`
		} `json:"privateKey"`
		IssuerRef struct {
			Name string `json:"name"`
			Kind string `json:"kind"`
		} `json:"issuerRef"`
	} `json:"spec"`
}

func (c *certificate) DeepCopyObject() runtime.Object { made := *c; return &made }

type issuer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		SelfSigned *struct{} `json:"selfSigned,omitempty"`
		CA         *struct {
			SecretName string `json:"secretName"`
		} `json:"ca,omitempty"`
	} `json:"spec"`
}

func (i *issuer) DeepCopyObject() runtime.Object { made := *i; return &made }

// cluster holds the objects of a variant.
type cluster struct {
	variant
	namespace string
	objects   []runtime.Object
}

// decode decodes documents strictly: an unknown or repeated field, and a kind that no check knows, is an error.
// Roles are not known: no account has rights.
func decode(v variant, documents [][]byte) (*cluster, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, autoscalingv2.AddToScheme, policyv1.AddToScheme,
		networkingv1.AddToScheme, gatewayv1.Install, monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"},
		&certificate{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Issuer"},
		&issuer{})
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	c := &cluster{variant: v}
	namespaces := map[string]bool{}
	for _, document := range documents {
		object, kind, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%w in\n%.200s", err, document)
		}
		c.objects = append(c.objects, object)
		var named metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(document, &named); err != nil {
			return nil, err
		}
		c.namespace = cmp.Or(named.Namespace, named.Name)
		namespaces[c.namespace] = true
		if len(namespaces) > 1 {
			return nil, fmt.Errorf("%s %s is in another namespace", kind.Kind, named.Name)
		}
	}
	return c, nil
}

func decoded(t *testing.T, v variant, edits ...edit) *cluster {
	t.Helper()
	c, err := decode(v, render(t, v, edits...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// all returns the objects of a type.
func all[T runtime.Object](c *cluster) (found []T) {
	for _, object := range c.objects {
		if typed, is := object.(T); is {
			found = append(found, typed)
		}
	}
	return found
}

// named returns the object of a type with a name, or nil.
func named[T interface {
	runtime.Object
	GetName() string
}](c *cluster, name string) (none T) {
	for _, object := range all[T](c) {
		if object.GetName() == name {
			return object
		}
	}
	return none
}

// workload is an object that creates pods.
type workload struct {
	name     string
	selector *metav1.LabelSelector // nil for a Job
	labels   map[string]string
	pod      *corev1.PodSpec
}

func (c *cluster) workloads() (found []workload) {
	of := func(name string, selector *metav1.LabelSelector, template *corev1.PodTemplateSpec) {
		found = append(found, workload{name, selector, template.Labels, &template.Spec})
	}
	for _, object := range c.objects {
		switch o := object.(type) {
		case *appsv1.Deployment:
			of(o.Name, o.Spec.Selector, &o.Spec.Template)
		case *appsv1.StatefulSet:
			of(o.Name, o.Spec.Selector, &o.Spec.Template)
		case *batchv1.Job: // its name has a hash
			of(o.Labels["app.kubernetes.io/name"], nil, &o.Spec.Template)
		case *batchv1.CronJob:
			of(o.Name, nil, &o.Spec.JobTemplate.Spec.Template)
		}
	}
	return found
}

func (c *cluster) workload(name string) workload {
	for _, w := range c.workloads() {
		if w.name == name {
			return w
		}
	}
	return workload{pod: &corev1.PodSpec{Containers: make([]corev1.Container, 1)}}
}

// program returns the container of a workload's program.
func (c *cluster) program(name string) *corev1.Container { return &c.workload(name).pod.Containers[0] }

// containers returns the containers of a workload, the init containers first.
func (w workload) containers() (found []*corev1.Container) {
	for i := range w.pod.InitContainers {
		found = append(found, &w.pod.InitContainers[i])
	}
	for i := range w.pod.Containers {
		found = append(found, &w.pod.Containers[i])
	}
	return found
}

func portOf(container *corev1.Container, name string) int32 {
	for _, port := range container.Ports {
		if port.Name == name {
			return port.ContainerPort
		}
	}
	return 0
}

// selects reports whether a selector matches labels. A nil selector matches nothing.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	matcher, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && matcher.Matches(labels.Set(of))
}

// behind returns the workloads that a selector matches.
func (c *cluster) behind(selector *metav1.LabelSelector) (found []workload) {
	for _, w := range c.workloads() {
		if selects(selector, w.labels) {
			found = append(found, w)
		}
	}
	return found
}

// ours returns the program in an image, if it is one of Waybook's.
func ours(image string) (program string, is bool) {
	name, _, _ := strings.Cut(path.Base(image), ":")
	name, _, _ = strings.Cut(name, "@")
	return name, path.Base(path.Dir(image)) == "waybook"
}

// environment returns the variables of a container as the kubelet sets them. Those from Secrets have the value of
// secret.
func (c *cluster) environment(container *corev1.Container, secret string) map[string]string {
	set := map[string]string{}
	for _, from := range container.EnvFrom {
		if found := named[*corev1.ConfigMap](c, from.ConfigMapRef.Name); found != nil {
			for name, value := range found.Data {
				set[name] = value
			}
		}
	}
	for _, variable := range container.Env {
		switch from := variable.ValueFrom; {
		case from == nil:
			set[variable.Name] = variable.Value
		case from.SecretKeyRef != nil:
			set[variable.Name] = secret
		case from.ResourceFieldRef != nil:
			kind, name, _ := strings.Cut(from.ResourceFieldRef.Resource, ".")
			quantity := map[string]corev1.ResourceList{"requests": container.Resources.Requests,
				"limits": container.Resources.Limits}[kind][corev1.ResourceName(name)]
			set[variable.Name] = fmt.Sprint(quantity.Value())
		}
	}
	return set
}
