package manifests_test

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybook/waybook/deploy/image"
)

// selects reports whether a selector matches labels. A nil selector matches nothing.
func selects(selector *metav1.LabelSelector, of map[string]string) bool {
	matcher, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && matcher.Matches(labels.Set(of))
}

// behind returns the workloads that a selector matches.
func (c *cluster) behind(selector *metav1.LabelSelector) (found []workload) {
	for _, w := range c.workloads() {
		if selects(selector, w.template.Labels) {
			found = append(found, w)
		}
	}
	return found
}

// checkServices checks that a Service selects the pods of exactly one workload and leads to a port that
// they have. If callers balance the load themselves, it must be headless, and then its port must be
// that of the pods. MongoDB's member has an address that outlives its pod, and finds itself by it.
func checkServices(c *cluster, complain complain) {
	for _, w := range c.workloads() {
		if w.selector != nil && (!selects(w.selector, w.template.Labels) || len(c.behind(w.selector)) != 1) {
			complain("%s does not select exactly its own pods", w.name)
		}
	}
	for _, service := range c.services {
		found := c.behind(&metav1.LabelSelector{MatchLabels: service.Spec.Selector})
		if len(found) != 1 || len(service.Spec.Selector) == 0 {
			complain("service %s selects %d workloads", service.Name, len(found))
			continue
		}
		for _, port := range service.Spec.Ports {
			target, ok := found[0].port(port.TargetPort.StrVal, port.TargetPort.IntVal)
			if !ok || target != port.Port && service.Name != "edge" {
				complain("service %s: port %d targets %s, which is %d", service.Name, port.Port, port.TargetPort.String(), target)
			}
		}
		if headless := service.Spec.ClusterIP == corev1.ClusterIPNone; headless == (service.Name == "edge" || service.Name == "mongodb") {
			complain("service %s is headless: %v", service.Name, headless)
		}
	}
	for _, s := range c.statefulSets {
		if c.service(s.Spec.ServiceName) == nil {
			complain("%s: there is no service %s", s.Name, s.Spec.ServiceName)
		}
		if s.Name == "mongodb" && !slices.ContainsFunc(s.Spec.Template.Spec.HostAliases, func(alias corev1.HostAlias) bool {
			return alias.IP == "127.0.0.1" && slices.Contains(alias.Hostnames, s.Spec.ServiceName)
		}) {
			complain("the member of MongoDB looks for itself behind the Service")
		}
	}
}

// checkAddresses checks that a program listens on the port that its pods declare, and that it calls
// existing services on their ports.
func checkAddresses(c *cluster, complain complain) {
	for _, d := range c.deployments {
		for _, container := range d.Spec.Template.Spec.Containers {
			called := []string{}
			for flag, value := range c.flags(&container) {
				switch flag {
				case "http", "grpc":
					if want := ":" + strconv.Itoa(int(portOf(container, flag))); value != want {
						complain("%s listens on %s and declares %s", d.Name, value, want)
					}
				case "account", "album", "blog", "poi":
					called = append(called, flag)
					host, port, _ := strings.Cut(strings.TrimPrefix(value, "dns:///"), ":")
					service := c.service(host)
					if service == nil || host != flag || !strings.HasPrefix(value, "dns:///") ||
						strconv.Itoa(int(service.Spec.Ports[0].Port)) != port {
						complain("%s: -%s %s is not the address of that service", d.Name, flag, value)
					}
				}
			}
			want := map[string]int{"edge": 4, "account": 0}
			if n, known := want[d.Name]; len(called) != n && (known || len(called) != 1) {
				complain("%s calls %v", d.Name, called)
			}
		}
	}
}

// checkEntrance checks that there is one way in, to the port of the edge.
func checkEntrance(c *cluster, complain complain) {
	if len(c.ingresses)+len(c.routes) != 1 || (len(c.routes) == 1) != c.variant.has("gateway-api") {
		complain("there are %d ingresses and %d routes", len(c.ingresses), len(c.routes))
	}
	leads := func(path, service, name string, number int32) {
		s := c.service(service)
		if path != "/API.php" || s == nil || !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool {
			return name != "" && p.Name == name || p.Port == number
		}) {
			complain("%s leads to %s:%s%d, which is not the edge", path, service, name, number)
		}
	}
	for _, ingress := range c.ingresses {
		for _, rule := range ingress.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				leads(path.Path, path.Backend.Service.Name, path.Backend.Service.Port.Name, path.Backend.Service.Port.Number)
			}
		}
	}
	for _, route := range c.routes {
		for _, rule := range route.Spec.Rules {
			for _, backend := range rule.BackendRefs {
				leads(*rule.Matches[0].Path.Value, string(backend.Name), "", int32(*backend.Port))
			}
		}
	}
}

// checkMonitors checks that monitors select existing pods and ports. A monitor selects pods in its
// own namespace.
func checkMonitors(c *cluster, complain complain) {
	for _, monitor := range c.podMonitors {
		found := c.behind(&monitor.Spec.Selector)
		if len(found) == 0 || len(monitor.Spec.PodMetricsEndpoints) == 0 {
			complain("monitor %s scrapes nothing", monitor.Name)
		}
		for _, endpoint := range monitor.Spec.PodMetricsEndpoints {
			for _, w := range found {
				if endpoint.Port == nil {
					complain("monitor %s names no port", monitor.Name)
				} else if _, ok := w.port(*endpoint.Port, 0); !ok {
					complain("monitor %s: %s has no port %s", monitor.Name, w.name, *endpoint.Port)
				}
			}
		}
	}
}

// programOf returns the program in an image, if the image is one of Waybook's.
func programOf(reference string) (string, bool) {
	name, _, _ := strings.Cut(reference, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name = name[:colon]
	}
	before, program, found := strings.Cut(name, "waybook/")
	return program, found && (before == "" || strings.HasSuffix(before, "/"))
}

// checkImages checks that each container runs the right image, that deploy/images builds it, and
// that it has a digest, or a tag other than latest.
func checkImages(c *cluster, complain complain) {
	for _, w := range c.workloads() {
		for _, container := range w.containers() {
			tag := container.Image[strings.LastIndexByte(container.Image, ':')+1:]
			if tag == container.Image || tag == "latest" || tag == "" || strings.Contains(tag, "/") {
				complain("%s: image %s has no tag and no digest", w.name, container.Image)
			}
			name, ours := programOf(container.Image)
			if !ours {
				if container.Image != "mongo:8.0" {
					complain("%s: image %s is not built here", w.name, container.Image)
				}
				continue
			}
			if !slices.ContainsFunc(image.Programs(), func(p image.Program) bool { return p.Name == name }) {
				complain("%s: image %s is not built here", w.name, container.Image)
			}
			if name != w.name && !(name == "waybookctl" && slices.Contains([]string{"prepare", "backup", "restore"}, w.name)) {
				complain("%s runs %s", w.name, container.Image)
			}
			if c.variant.overlay == "dev" && container.Image != "waybook/"+name+":dev" {
				complain("%s: deploy/images does not build %s", w.name, container.Image)
			}
		}
	}
}
