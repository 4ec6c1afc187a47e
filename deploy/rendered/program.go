// Package rendered renders the manifests in deploy/k8s: an overlay as kubectl would render it, and
// the resulting command lines and environments of Waybook's programs.
package rendered

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Program is the command line and the environment of a workload's program, with all values that
// Kubernetes fills in.
type Program struct {
	Args        []string
	Environment map[string]string
	// Secrets are the names of the mounted Secrets, by directory, and Claims those of volumes, also of
	// temporary ones.
	Secrets, Claims map[string]string
}

// Settings are the contents of ConfigMaps or Secrets: values by name and key.
type Settings map[string]map[string]string

// Main prints the programs of an overlay, in JSON by name. args are the folder of the manifests and the
// overlay, and in has the contents of Secrets, in JSON.
func Main(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("usage: pods FOLDER OVERLAY <SECRETS")
	}
	var secrets Settings
	if err := json.NewDecoder(in).Decode(&secrets); err != nil {
		return fmt.Errorf("secrets: %w", err)
	}
	documents, err := Overlay(args[0], args[1])
	if err != nil {
		return err
	}
	programs, err := Programs(documents, secrets)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(programs)
}

// Programs returns the programs of all Deployments, StatefulSets and CronJobs among the documents, by name.
// secrets are the contents of the Secrets. Anything in a manifest that it does not support is an error.
func Programs(documents [][]byte, secrets Settings) (map[string]Program, error) {
	configMaps := Settings{}
	pods := map[string]*corev1.PodSpec{}
	for _, document := range documents {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return nil, err
		}
		if kind.Kind == "ConfigMap" {
			var object corev1.ConfigMap
			if err := yaml.UnmarshalStrict(document, &object); err != nil {
				return nil, fmt.Errorf("%s: %w", kind.Kind, err)
			}
			configMaps[object.Name] = object.Data
		}
		name, pod, err := podOf(kind.Kind, document)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.Kind, err)
		}
		if pod != nil {
			pods[name] = pod
		}
	}
	programs := map[string]Program{}
	for name, pod := range pods {
		program, err := programOf(pod, configMaps, secrets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		programs[name] = program
	}
	return programs, nil
}

// podOf returns the name of a workload and its pod, or nil if the kind is none of a workload. Each claim of a
// StatefulSet is a volume of the pod.
func podOf(kind string, document []byte) (string, *corev1.PodSpec, error) {
	switch kind {
	case "Deployment":
		var object appsv1.Deployment
		err := yaml.UnmarshalStrict(document, &object)
		return object.Name, &object.Spec.Template.Spec, err
	case "StatefulSet":
		var object appsv1.StatefulSet
		err := yaml.UnmarshalStrict(document, &object)
		pod := &object.Spec.Template.Spec
		for _, claim := range object.Spec.VolumeClaimTemplates {
			pod.Volumes = append(pod.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + object.Name + "-0"},
			}})
		}
		return object.Name, pod, err
	case "CronJob":
		var object batchv1.CronJob
		err := yaml.UnmarshalStrict(document, &object)
		return object.Name, &object.Spec.JobTemplate.Spec.Template.Spec, err
	}
	return "", nil, nil
}

func programOf(pod *corev1.PodSpec, configMaps, secrets Settings) (Program, error) {
	program := Program{Environment: map[string]string{}, Secrets: map[string]string{}, Claims: map[string]string{}}
	if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 {
		return program, errors.New("it has other containers than the program's")
	}
	container := &pod.Containers[0]
	if len(container.Command) > 0 || container.WorkingDir != "" {
		return program, fmt.Errorf("it starts %v in %q, not the image's program", container.Command, container.WorkingDir)
	}
	program.Args = container.Args
	for _, argument := range program.Args {
		if strings.Contains(argument, "$(") {
			return program, fmt.Errorf("argument %s refers to a variable", argument)
		}
	}
	for _, from := range container.EnvFrom {
		if from.ConfigMapRef == nil || from.Prefix != "" || configMaps[from.ConfigMapRef.Name] == nil {
			return program, fmt.Errorf("variables come from %v", from)
		}
		maps.Copy(program.Environment, configMaps[from.ConfigMapRef.Name])
	}
	for _, variable := range container.Env {
		value, err := valueOf(container, variable, secrets)
		if err != nil {
			return program, fmt.Errorf("%s: %w", variable.Name, err)
		}
		program.Environment[variable.Name] = value
	}
	for _, mount := range container.VolumeMounts {
		secret, claim := mounted(pod, mount)
		switch {
		case secret != "":
			program.Secrets[mount.MountPath] = secret
		case claim != "":
			program.Claims[mount.MountPath] = claim
		default:
			return program, fmt.Errorf("%s is not an entire Secret or volume", mount.MountPath)
		}
	}
	return program, nil
}

// valueOf returns the value that the kubelet sets for a variable.
func valueOf(container *corev1.Container, variable corev1.EnvVar, secrets Settings) (string, error) {
	from := variable.ValueFrom
	switch {
	case from == nil && !strings.Contains(variable.Value, "$("):
		return variable.Value, nil
	case from != nil && from.SecretKeyRef != nil:
		value, ok := secrets[from.SecretKeyRef.Name][from.SecretKeyRef.Key]
		if !ok {
			return "", fmt.Errorf("there is no key %s in a Secret %s", from.SecretKeyRef.Key, from.SecretKeyRef.Name)
		}
		return value, nil
	case from != nil && from.ResourceFieldRef != nil:
		number, ok := Resource(container, from.ResourceFieldRef)
		if !ok {
			return "", fmt.Errorf("the container has no %s", from.ResourceFieldRef.Resource)
		}
		return strconv.FormatInt(number, 10), nil
	}
	return "", fmt.Errorf("its value %q %v is not supported", variable.Value, from)
}

// mounted returns the Secret, or the claim of a volume, that is mounted as a whole, or nothing.
func mounted(pod *corev1.PodSpec, mount corev1.VolumeMount) (secret, claim string) {
	for _, volume := range pod.Volumes {
		switch {
		case volume.Name != mount.Name || mount.SubPath != "":
		case volume.Secret != nil && len(volume.Secret.Items) == 0:
			return volume.Secret.SecretName, ""
		case volume.PersistentVolumeClaim != nil:
			return "", volume.PersistentVolumeClaim.ClaimName
		case volume.EmptyDir != nil:
			return "", volume.Name
		}
	}
	return "", ""
}

// Resource returns the value that the kubelet computes for a reference to a container's own
// requests or limits. It reports false if there is no such resource.
func Resource(container *corev1.Container, ref *corev1.ResourceFieldSelector) (int64, bool) {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := map[string]corev1.ResourceList{"requests": container.Resources.Requests, "limits": container.Resources.Limits}[kind]
	quantity, ok := list[corev1.ResourceName(name)]
	if !ok || ref.ContainerName != container.Name {
		return 0, false
	}
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	return int64(math.Ceil(quantity.AsApproximateFloat64() / divisor.AsApproximateFloat64())), true
}

// Overlay renders an overlay of the manifests in a directory, with additional components in its lists,
// as an operator adds them. It returns one YAML document for each object.
func Overlay(directory, name string, components ...string) (documents [][]byte, err error) {
	files, err := inMemory(directory)
	if err != nil {
		return nil, err
	}
	folder := "/k8s/overlays/" + name
	own, err := files.ReadFile(folder + "/kustomization.yaml")
	if err != nil {
		return nil, err
	}
	var kustomization map[string]any
	if err := yaml.Unmarshal(own, &kustomization); err != nil {
		return nil, fmt.Errorf("overlay %s: %w", name, err)
	}
	for _, component := range components {
		list := "components"
		if component == "pull-secret" { // it patches what all others add
			list = "transformers"
		}
		listed, _ := kustomization[list].([]any)
		kustomization[list] = append([]any{"../../components/" + component}, listed...)
	}
	changed, err := yaml.Marshal(kustomization)
	if err != nil {
		return nil, err
	}
	if err := files.WriteFile(folder+"/kustomization.yaml", changed); err != nil {
		return nil, err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
	if err != nil {
		return nil, fmt.Errorf("overlay %s with %v: %w", name, components, err)
	}
	for _, object := range objects.Resources() {
		document, err := object.AsYAML()
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}

// inMemory copies the manifests to a file system in memory, where an overlay can be changed.
func inMemory(directory string) (filesys.FileSystem, error) {
	files, manifests := filesys.MakeFsInMemory(), os.DirFS(directory)
	return files, fs.WalkDir(manifests, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(manifests, name)
		if err != nil {
			return err
		}
		return files.WriteFile(path.Join("/k8s", name), content)
	})
}
