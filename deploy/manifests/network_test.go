package manifests_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// endpoint is a sender or receiver of packets: a pod, or an address elsewhere.
type endpoint struct {
	name   string
	labels map[string]string
	// namespace holds the labels of its namespace; nil means outside the cluster.
	namespace map[string]string
	address   netip.Addr
	ports     []port
}

type port struct {
	name     string
	number   int32
	protocol corev1.Protocol
}

func namespaceNamed(name string) map[string]string {
	return map[string]string{corev1.LabelMetadataName: name}
}

// endpoints returns the pods of the variant, and one example of each other kind of endpoint.
func (c *cluster) endpoints() []endpoint {
	pod := netip.MustParseAddr("10.244.0.1")
	all := []endpoint{
		{name: "internet", address: netip.MustParseAddr("203.0.113.7"), ports: []port{{"", 443, corev1.ProtocolTCP}, {"", 27017, corev1.ProtocolTCP}}},
		{name: "database", address: netip.MustParseAddr("10.1.2.3"), ports: []port{{"", 27017, corev1.ProtocolTCP}, {"", 22, corev1.ProtocolTCP}}},
		{name: "stranger", namespace: namespaceNamed("stranger"), address: pod, ports: []port{{"", 8080, corev1.ProtocolTCP}},
			labels: map[string]string{"app.kubernetes.io/name": "edge", "waybook/store": "client"}},
		{name: "impostor", namespace: namespaceNamed("stranger"), address: pod, ports: []port{{"", 8000, corev1.ProtocolTCP}},
			labels: map[string]string{"app.kubernetes.io/name": "traefik", "gateway.networking.k8s.io/gateway-name": "gateway"}},
		{name: "controller", namespace: namespaceNamed("traefik"), address: pod, ports: []port{{"", 8000, corev1.ProtocolTCP}},
			labels: map[string]string{"app.kubernetes.io/name": "traefik"}},
		{name: "neighbour", namespace: namespaceNamed("traefik"), address: pod, ports: []port{{"", 8000, corev1.ProtocolTCP}}},
		{name: "gateway", namespace: namespaceNamed("gateway"), address: pod, ports: []port{{"", 8000, corev1.ProtocolTCP}},
			labels: map[string]string{"gateway.networking.k8s.io/gateway-name": "gateway"}},
		{name: "prometheus", namespace: namespaceNamed("monitoring"), address: pod, ports: []port{{"", 9090, corev1.ProtocolTCP}}},
		{name: "collector", namespace: namespaceNamed("tracing"), address: pod, ports: []port{{"", 4317, corev1.ProtocolTCP}}},
		{name: "operated", namespace: namespaceNamed("mongodb"), address: pod, ports: []port{{"", 27017, corev1.ProtocolTCP}},
			labels: map[string]string{"app": "waybook-svc"}},
		{name: "dns", namespace: namespaceNamed("kube-system"), address: pod, labels: map[string]string{"k8s-app": "kube-dns"},
			ports: []port{{"", 53, corev1.ProtocolUDP}, {"", 53, corev1.ProtocolTCP}}},
		{name: "newcomer", namespace: namespaceNamed("waybook"), address: pod, ports: []port{{"", 80, corev1.ProtocolTCP}}},
	}
	for _, w := range c.workloads() {
		e := endpoint{name: w.name, namespace: namespaceNamed("waybook"), address: pod, labels: w.template.Labels}
		for _, container := range w.containers() {
			for _, p := range container.Ports {
				e.ports = append(e.ports, port{p.Name, p.ContainerPort, corev1.ProtocolTCP})
			}
		}
		all = append(all, e)
	}
	return all
}

// arrows returns all connections that the policies allow, as "from -> to:port".
func (c *cluster) arrows() (arrows []string) {
	for _, from := range c.endpoints() {
		for _, to := range c.endpoints() {
			for _, p := range to.ports {
				if !from.ours() && !to.ours() || from.name == to.name && !to.ours() {
					continue
				}
				if c.allows(networkingv1.PolicyTypeEgress, from, to, p) && c.allows(networkingv1.PolicyTypeIngress, to, from, p) {
					arrows = append(arrows, fmt.Sprintf("%s -> %s:%d/%s", from.name, to.name, p.number, p.protocol))
				}
			}
		}
	}
	return arrows
}

func (e endpoint) ours() bool { return e.namespace[corev1.LabelMetadataName] == "waybook" }

// allows reports whether the policies for one end allow traffic with the other end. The port is one
// of the end that is called.
func (c *cluster) allows(direction networkingv1.PolicyType, one, other endpoint, p port) bool {
	restricted := false
	for _, policy := range c.policies {
		if !one.ours() || !slices.Contains(policy.Spec.PolicyTypes, direction) || !selects(&policy.Spec.PodSelector, one.labels) {
			continue
		}
		restricted = true
		if direction == networkingv1.PolicyTypeIngress {
			for _, rule := range policy.Spec.Ingress {
				if matchesPeer(rule.From, other) && matchesPort(rule.Ports, p) {
					return true
				}
			}
			continue
		}
		for _, rule := range policy.Spec.Egress {
			if matchesPeer(rule.To, other) && matchesPort(rule.Ports, p) {
				return true
			}
		}
	}
	return !restricted
}

func matchesPeer(peers []networkingv1.NetworkPolicyPeer, e endpoint) bool {
	return len(peers) == 0 || slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil {
			// Network plugins differ in whether a block applies to pods. Here it does not.
			return e.namespace == nil && netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(e.address) && len(peer.IPBlock.Except) == 0
		}
		namespace := peer.NamespaceSelector
		if namespace == nil {
			namespace = &metav1.LabelSelector{MatchLabels: namespaceNamed("waybook")}
		}
		return e.namespace != nil && selects(namespace, e.namespace) && (peer.PodSelector == nil || selects(peer.PodSelector, e.labels))
	})
}

func matchesPort(ports []networkingv1.NetworkPolicyPort, p port) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(allowed networkingv1.NetworkPolicyPort) bool {
		protocol := corev1.ProtocolTCP
		if allowed.Protocol != nil {
			protocol = *allowed.Protocol
		}
		switch {
		case protocol != p.protocol:
			return false
		case allowed.Port == nil:
			return true
		case allowed.Port.Type == intstr.String:
			return p.name == allowed.Port.StrVal
		case allowed.EndPort != nil:
			return allowed.Port.IntVal <= p.number && p.number <= *allowed.EndPort
		}
		return p.number == allowed.Port.IntVal
	})
}

// wantedArrows returns the connections of rule 15.5 in a variant.
func wantedArrows(v variant) (wanted []string) {
	table := `
edge -> account:9091
edge -> album:9092
edge -> blog:9093
edge -> poi:9094
album,blog,poi -> account:9091
edge,account,album,blog,poi,prepare,newcomer -> dns:53
edge,account,album,blog,poi,prepare,newcomer -> dns:53/UDP
`
	if v.has("gateway-api") {
		table += "gateway -> edge:8080\n"
	} else {
		table += "controller -> edge:8080\n"
	}
	switch {
	case v.has("mongodb"):
		table += `
account,album,blog,poi,prepare,mongodb,mongodb-initiate -> mongodb:27017
mongodb,mongodb-initiate -> dns:53
mongodb,mongodb-initiate -> dns:53/UDP
`
	case v.has("mongodb-community"):
		table += "account,album,blog,poi,prepare -> operated:27017\n"
	default:
		table += "account,album,blog,poi,prepare -> database:27017\n"
	}
	if v.has("tracing") {
		table += "edge,account,album,blog,poi -> collector:4317\n"
	}
	if v.has("monitoring") {
		for _, name := range []string{"edge", "account", "album", "blog", "poi"} {
			table += "prometheus -> " + name + ":8081\n"
		}
	}
	if v.overlay == "single" {
		table = singleArrows(v)
	}
	for line := range strings.Lines(table) {
		from, to, found := strings.Cut(strings.TrimSpace(line), " -> ")
		if !found {
			continue
		}
		if !strings.Contains(to, "/") {
			to += "/TCP"
		}
		for name := range strings.SplitSeq(from, ",") {
			wanted = append(wanted, name+" -> "+to)
		}
	}
	return wanted
}

// checkNetwork compares the connections that the policies allow with those of rule 15.5.
func checkNetwork(c *cluster, complain complain) {
	got, wanted := c.arrows(), wantedArrows(c.variant)
	for _, arrow := range got {
		if !slices.Contains(wanted, arrow) {
			complain("allowed: %s", arrow)
		}
	}
	for _, arrow := range wanted {
		if !slices.Contains(got, arrow) {
			complain("not allowed: %s", arrow)
		}
	}
}
