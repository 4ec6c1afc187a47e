package rendered

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Program is the command line and the environment of a deployment's program, with all values that
// Kubernetes fills in.
type Program struct {
	Args        []string
	Environment map[string]string
	// Secrets are the names of the mounted Secrets, by directory.
	Secrets map[string]string
}

// Settings are the contents of ConfigMaps or Secrets: values by name and key.
type Settings map[string]map[string]string

// Programs returns the programs of all deployments among the documents, by name. secrets are the
// contents of the Secrets. Anything in a manifest that it does not support is an error.
func Programs(documents [][]byte, secrets Settings) (map[string]Program, error) {
	configMaps := Settings{}
	var deployments []*appsv1.Deployment
	for _, document := range documents {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return nil, err
		}
		var err error
		switch kind.Kind {
		case "ConfigMap":
			var object corev1.ConfigMap
			err = yaml.UnmarshalStrict(document, &object)
			configMaps[object.Name] = object.Data
		case "Deployment":
			var object appsv1.Deployment
			err = yaml.UnmarshalStrict(document, &object)
			deployments = append(deployments, &object)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.Kind, err)
		}
	}
	programs := map[string]Program{}
	for _, deployment := range deployments {
		program, err := programOf(&deployment.Spec.Template.Spec, configMaps, secrets)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", deployment.Name, err)
		}
		programs[deployment.Name] = program
	}
	return programs, nil
}

func programOf(pod *corev1.PodSpec, configMaps, secrets Settings) (Program, error) {
	program := Program{Environment: map[string]string{}, Secrets: map[string]string{}}
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
		secret := secretIn(pod, mount)
		if secret == "" {
			return program, fmt.Errorf("%s is not an entire Secret", mount.MountPath)
		}
		program.Secrets[mount.MountPath] = secret
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

// secretIn returns the Secret that is mounted as a whole, or "".
func secretIn(pod *corev1.PodSpec, mount corev1.VolumeMount) string {
	for _, volume := range pod.Volumes {
		if volume.Name == mount.Name && volume.Secret != nil && len(volume.Secret.Items) == 0 && mount.SubPath == "" {
			return volume.Secret.SecretName
		}
	}
	return ""
}
