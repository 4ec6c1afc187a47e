// Package kubeapi is a model of a Kubernetes API server on loopback. It keeps the objects that kubectl
// creates and applies, with the rules that matter for applying them again: patches are merged as the
// real server merges them, an object needs its namespace, and a Job's pods cannot be changed. It runs
// nothing, checks no rights, and admits what passes those rules.
package kubeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxBody bounds a request body. etcd's limit of an object is half as much.
const maxBody = 3 << 20

// Server is a running model. It may be used concurrently.
type Server struct {
	// Kubeconfig is the path of a file that makes kubectl use this server.
	Kubeconfig string

	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured // by path
}

// Start starts a server without any object.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{objects: map[string]*unstructured.Unstructured{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"major": "1", "minor": "32", "gitVersion": "v1.32.0"})
	})
	mux.HandleFunc("GET /api", discover)
	mux.HandleFunc("GET /apis", discover)
	mux.HandleFunc("GET /openapi/v3", listSchemas)
	mux.HandleFunc("GET /openapi/v3/{version...}", describeVersion)
	mux.HandleFunc("/", s.serve)
	listening := httptest.NewServer(mux)
	t.Cleanup(listening.Close)
	s.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: model,
  clusters: [{name: model, cluster: {server: %q}}],
  contexts: [{name: model, context: {cluster: model, user: nobody}}],
  users: [{name: nobody, user: {}}]}`, listening.URL)
	if err := os.WriteFile(s.Kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// All returns copies of the objects of a kind, ordered by namespace and name.
func (s *Server) All(kind string) (found []*unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(s.objects)) {
		if object := s.objects[path]; object.GetKind() == kind {
			found = append(found, object.DeepCopy())
		}
	}
	return found
}

// FinishJobs removes the Jobs that have a time to live, as a cluster does some time after their end.
func (s *Server) FinishJobs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.objects, func(_ string, object *unstructured.Unstructured) bool {
		_, expires, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "ttlSecondsAfterFinished")
		return object.GetKind() == "Job" && expires
	})
}

// target is what a request is about.
type target struct {
	resource        resource
	namespace, name string
}

// path returns the path of the object with a name.
func (t target) path(name string) string {
	return strings.Join([]string{t.resource.Group, t.resource.plural, t.namespace, name}, "/")
}

// parse returns the target of a path such as /apis/apps/v1/namespaces/waybook/deployments/edge.
func parse(path string) (target, bool) {
	var at target
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group, rest := "", parts[1:]
	if parts[0] == "apis" && len(parts) > 1 {
		group, rest = parts[1], parts[2:]
	}
	if len(rest) < 2 {
		return at, false
	}
	version, rest := rest[0], rest[1:]
	isNamespaced := rest[0] == "namespaces" && len(rest) > 2
	if isNamespaced {
		at.namespace, rest = rest[1], rest[2:]
	}
	if len(rest) > 2 {
		return at, false
	}
	if len(rest) == 2 {
		at.name = rest[1]
	}
	for _, each := range resources() {
		if each.Group == group && each.Version == version && each.plural == rest[0] && each.isGlobal != isNamespaced {
			at.resource = each
			return at, true
		}
	}
	return at, false
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	at, known := parse(r.URL.Path)
	if !known {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	code := http.StatusOK
	var object *unstructured.Unstructured
	switch {
	case r.Method == http.MethodPost && at.name == "":
		code = http.StatusCreated
		object, err = s.create(at, body, r.URL.Query().Get("dryRun"))
	case at.name == "":
		err = apierrors.NewMethodNotSupported(at.groupResource(), r.Method)
	case s.objects[at.path(at.name)] == nil:
		err = apierrors.NewNotFound(at.groupResource(), at.name)
	case r.Method == http.MethodGet:
		object = s.objects[at.path(at.name)]
	case r.Method == http.MethodPatch:
		object, err = s.patch(at, r.Header.Get("Content-Type"), body, r.URL.Query().Get("dryRun"))
	case r.Method == http.MethodDelete:
		object = s.objects[at.path(at.name)]
		delete(s.objects, at.path(at.name))
	default:
		err = apierrors.NewMethodNotSupported(at.groupResource(), r.Method)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, code, object)
}

func (t target) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: t.resource.Group, Resource: t.resource.plural}
}

// refuse replies with the status of an error.
func refuse(w http.ResponseWriter, err error) {
	failed, ok := err.(apierrors.APIStatus)
	if !ok {
		failed = apierrors.NewBadRequest(err.Error())
	}
	status := failed.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	reply(w, int(status.Code), status)
}

func reply(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value) // a client that has gone needs no reply
}
