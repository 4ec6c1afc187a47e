package rendered

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

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
