package kubeapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// create stores a new object.
func (s *Server) create(at target, body []byte, dryRun string) (*unstructured.Unstructured, error) {
	object, err := read(body)
	if err != nil {
		return nil, err
	}
	if object.GroupVersionKind() != at.resource.GroupVersionKind {
		return nil, errors.New("the object is of another kind")
	}
	if at.namespace != "" && s.objects[namespaceOf(at.namespace)] == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, at.namespace)
	}
	path := at.path(object.GetName())
	if s.objects[path] != nil {
		return nil, apierrors.NewAlreadyExists(at.groupResource(), object.GetName())
	}
	return s.store(at, path, object, dryRun)
}

// read reads an object in JSON or, as kubectl create sends it, in protobuf.
func read(body []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if !bytes.HasPrefix(body, []byte("k8s\x00")) {
		return object, object.UnmarshalJSON(body)
	}
	typed, kind, err := serializer.NewCodecFactory(newScheme()).UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	if object.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
		return nil, err
	}
	object.SetGroupVersionKind(*kind)
	return object, nil
}

func namespaceOf(name string) string {
	return target{resource: resource{plural: "namespaces"}}.path(name)
}

// patch merges a patch into an object, by the rules of its Go type or, if it has none here, of RFC 7386.
func (s *Server) patch(at target, contentType string, patch []byte, dryRun string) (*unstructured.Unstructured, error) {
	path := at.path(at.name)
	before := s.objects[path]
	original, err := before.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var merged []byte
	switch types.PatchType(contentType) {
	case types.StrategicMergePatchType:
		typed, unknown := newScheme().New(at.resource.GroupVersionKind)
		if unknown != nil {
			return nil, apierrors.NewGenericServerResponse(415, "patch", at.groupResource(), at.name, unknown.Error(), 0, true)
		}
		merged, err = strategicpatch.StrategicMergePatch(original, patch, typed)
	case types.MergePatchType:
		merged, err = mergeJSON(original, patch)
	default:
		err = errors.New("a patch of type " + contentType)
	}
	if err != nil {
		return nil, err
	}
	after := &unstructured.Unstructured{}
	if err := after.UnmarshalJSON(merged); err != nil {
		return nil, err
	}
	if fixed := immutable(before, after); fixed != nil {
		return nil, apierrors.NewInvalid(at.resource.GroupKind(), at.name, field.ErrorList{
			field.Invalid(fixed, "", "field is immutable"),
		})
	}
	return s.store(at, path, after, dryRun)
}

// immutable returns a changed field of a Job that cannot be changed.
func immutable(before, after *unstructured.Unstructured) *field.Path {
	if before.GetKind() != "Job" {
		return nil
	}
	old, _, _ := unstructured.NestedMap(before.Object, "spec", "template")
	changed, _, _ := unstructured.NestedMap(after.Object, "spec", "template")
	if equality.Semantic.DeepEqual(old, changed) {
		return nil
	}
	return field.NewPath("spec", "template")
}

// store keeps an object, unless the request is a dry run. stringData of a Secret becomes data.
func (s *Server) store(at target, path string, object *unstructured.Unstructured, dryRun string) (*unstructured.Unstructured, error) {
	object.SetNamespace(at.namespace)
	if texts, found, err := unstructured.NestedStringMap(object.Object, "stringData"); err != nil {
		return nil, err
	} else if found && object.GetKind() == "Secret" {
		for key, text := range texts {
			encoded := base64.StdEncoding.EncodeToString([]byte(text))
			if err := unstructured.SetNestedField(object.Object, encoded, "data", key); err != nil {
				return nil, err
			}
		}
		unstructured.RemoveNestedField(object.Object, "stringData")
	}
	if dryRun == "" {
		s.objects[path] = object
	}
	return object, nil
}

// mergeJSON applies a patch of RFC 7386.
func mergeJSON(original, patch []byte) ([]byte, error) {
	var into, from map[string]any
	if err := errors.Join(json.Unmarshal(original, &into), json.Unmarshal(patch, &from)); err != nil {
		return nil, err
	}
	return json.Marshal(mergeMaps(into, from))
}

func mergeMaps(into, from map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for key, value := range from {
		switch value := value.(type) {
		case nil:
			delete(into, key)
		case map[string]any:
			old, _ := into[key].(map[string]any)
			into[key] = mergeMaps(old, value)
		default:
			into[key] = value
		}
	}
	return into
}

// newScheme knows the types of Kubernetes itself, by which lists are merged.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range builtIn() {
		if err := add(scheme); err != nil {
			panic(err) // a fault of this program
		}
	}
	return scheme
}

// resource is a kind that the server has.
type resource struct {
	schema.GroupVersionKind
	plural string
	// isGlobal says that its objects are in no namespace.
	isGlobal bool
}

func builtIn() []func(*runtime.Scheme) error {
	return []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme,
		networkingv1.AddToScheme, policyv1.AddToScheme, schedulingv1.AddToScheme,
	}
}

// resources are the kinds in deploy/k8s, with those of cert-manager, the Prometheus operator and the
// Gateway API.
func resources() (all []resource) {
	for version, kinds := range map[string]string{
		"/v1":                             "Namespace:namespaces:global ServiceAccount:serviceaccounts Service:services ConfigMap:configmaps Secret:secrets PersistentVolumeClaim:persistentvolumeclaims",
		"apps/v1":                         "Deployment:deployments StatefulSet:statefulsets",
		"batch/v1":                        "Job:jobs CronJob:cronjobs",
		"autoscaling/v2":                  "HorizontalPodAutoscaler:horizontalpodautoscalers",
		"policy/v1":                       "PodDisruptionBudget:poddisruptionbudgets",
		"networking.k8s.io/v1":            "NetworkPolicy:networkpolicies Ingress:ingresses",
		"scheduling.k8s.io/v1":            "PriorityClass:priorityclasses:global",
		"cert-manager.io/v1":              "Certificate:certificates Issuer:issuers",
		"monitoring.coreos.com/v1":        "PodMonitor:podmonitors PrometheusRule:prometheusrules",
		"gateway.networking.k8s.io/v1":    "HTTPRoute:httproutes",
		"mongodbcommunity.mongodb.com/v1": "MongoDBCommunity:mongodbcommunity",
	} {
		group, number, _ := strings.Cut(version, "/")
		for kind := range strings.FieldsSeq(kinds) {
			parts := strings.Split(kind, ":")
			all = append(all, resource{schema.GroupVersionKind{Group: group, Version: number, Kind: parts[0]}, parts[1], len(parts) > 2})
		}
	}
	return all
}

// discover serves the kinds, aggregated as kubectl asks for them first.
func discover(w http.ResponseWriter, r *http.Request) {
	groups := map[string]*apidiscoveryv2.APIGroupDiscovery{}
	list := apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	for _, each := range resources() {
		if (each.Group == "") != (r.URL.Path == "/api") {
			continue
		}
		group := groups[each.Group]
		if group == nil {
			group = &apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: each.Group},
				Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: each.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}}}
			groups[each.Group] = group
		}
		scope := apidiscoveryv2.ScopeNamespace
		if each.isGlobal {
			scope = apidiscoveryv2.ScopeCluster
		}
		group.Versions[0].Resources = append(group.Versions[0].Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource: each.plural, SingularResource: strings.ToLower(each.Kind), Scope: scope,
			ResponseKind: &metav1.GroupVersionKind{Group: each.Group, Version: each.Version, Kind: each.Kind},
			Verbs:        []string{"create", "delete", "get", "patch"},
		})
	}
	for _, group := range groups {
		list.Items = append(list.Items, *group)
	}
	w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	_ = json.NewEncoder(w).Encode(list) // a client that has gone needs no reply
}

// path returns the start of the paths of a version's objects, without the first slash.
func (r resource) versionPath() string {
	if r.Group == "" {
		return "api/" + r.Version
	}
	return "apis/" + r.Group + "/" + r.Version
}

// listSchemas serves the index of the schemas.
func listSchemas(w http.ResponseWriter, _ *http.Request) {
	paths := map[string]any{}
	for _, each := range resources() {
		paths[each.versionPath()] = map[string]string{"serverRelativeURL": "/openapi/v3/" + each.versionPath()}
	}
	reply(w, http.StatusOK, map[string]any{"paths": paths})
}

// describeVersion serves the part of a version's schema that kubectl reads before it sends an object:
// that the server checks fields itself.
func describeVersion(w http.ResponseWriter, r *http.Request) {
	paths := map[string]any{}
	for _, each := range resources() {
		if each.versionPath() == r.PathValue("version") {
			paths["/"+each.versionPath()+"/"+each.plural] = map[string]any{"patch": map[string]any{
				"x-kubernetes-group-version-kind": map[string]string{"group": each.Group, "version": each.Version, "kind": each.Kind},
				"parameters":                      []any{map[string]string{"name": "fieldValidation", "in": "query"}},
			}}
		}
	}
	reply(w, http.StatusOK, map[string]any{"openapi": "3.0.0", "info": map[string]string{"title": "model", "version": "v1"}, "paths": paths})
}
