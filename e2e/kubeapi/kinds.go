package kubeapi

import (
	"encoding/json"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
