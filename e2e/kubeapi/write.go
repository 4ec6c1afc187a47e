package kubeapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
