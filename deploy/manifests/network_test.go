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

// endpoint is a sender or receiver of packets: a pod of a namespace, or an address outside the cluster.
type endpoint struct {
	name, namespace string
	labels          map[string]string
	address         netip.Addr
	ports           []port
}

type port struct {
	name     string
	number   int32
	protocol corev1.Protocol
}

// endpoints returns the pods of the variant, and one example of each other kind of endpoint.
func (c *cluster) endpoints() []endpoint {
	tcp := func(numbers ...int32) (ports []port) {
		for _, number := range numbers {
			ports = append(ports, port{"", number, corev1.ProtocolTCP})
		}
		return ports
	}
	found := []endpoint{
		{name: "internet", address: netip.MustParseAddr("203.0.113.7"), ports: tcp(443, 27017)},
		{name: "database", address: netip.MustParseAddr("10.1.2.3"), ports: tcp(27017, 22)},
		{name: "stranger", namespace: "stranger", ports: tcp(8080), labels: map[string]string{
			"app.kubernetes.io/name": "edge", "waybook/store": "client",
			"gateway.networking.k8s.io/gateway-name": "gateway"}},
		{name: "impostor", namespace: "stranger", labels: map[string]string{"app.kubernetes.io/name": "traefik"}},
		{name: "controller", namespace: "traefik", labels: map[string]string{"app.kubernetes.io/name": "traefik"}},
		{name: "neighbour", namespace: "traefik"},
		{name: "gateway", namespace: "gateway",
			labels: map[string]string{"gateway.networking.k8s.io/gateway-name": "gateway"}},
		{name: "reports", namespace: "reports", labels: map[string]string{"app.kubernetes.io/name": "reports"}},
		{name: "prometheus", namespace: "monitoring", ports: tcp(9090)},
		{name: "collector", namespace: "tracing", ports: tcp(4317)},
		{name: "dns", namespace: "kube-system", labels: map[string]string{"k8s-app": "kube-dns"},
			ports: append(tcp(53), port{"", 53, corev1.ProtocolUDP})},
		{name: "newcomer", namespace: c.namespace, ports: tcp(80)},
	}
	for _, w := range c.workloads() {
		e := endpoint{name: w.name, namespace: c.namespace, labels: w.labels}
		for _, container := range w.containers() {
			for _, p := range container.Ports {
				e.ports = append(e.ports, port{p.Name, p.ContainerPort, corev1.ProtocolTCP})
			}
		}
		found = append(found, e)
	}
	return found
}

// allows reports whether the policies for one end allow traffic with the other end. The port is one of the end that
// is called.
func (c *cluster) allows(direction networkingv1.PolicyType, one, other endpoint, p port) bool {
	isRestricted := false
	for _, policy := range all[*networkingv1.NetworkPolicy](c) {
		if one.namespace != c.namespace || !slices.Contains(policy.Spec.PolicyTypes, direction) ||
			!selects(&policy.Spec.PodSelector, one.labels) {
			continue
		}
		isRestricted = true
		for _, rule := range policy.Spec.Ingress {
			if direction == networkingv1.PolicyTypeIngress && c.matchesPeer(rule.From, other) &&
				matchesPort(rule.Ports, p) {
				return true
			}
		}
		for _, rule := range policy.Spec.Egress {
			if direction == networkingv1.PolicyTypeEgress && c.matchesPeer(rule.To, other) &&
				matchesPort(rule.Ports, p) {
				return true
			}
		}
	}
	return !isRestricted
}

func (c *cluster) matchesPeer(peers []networkingv1.NetworkPolicyPeer, e endpoint) bool {
	return len(peers) == 0 || slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil { // network plugins differ in whether a block applies to pods; here it does not
			return e.namespace == "" && netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(e.address)
		}
		isThere := e.namespace == c.namespace
		if peer.NamespaceSelector != nil {
			isThere = e.namespace != "" && selects(peer.NamespaceSelector, map[string]string{corev1.LabelMetadataName: e.namespace})
		}
		return isThere && (peer.PodSelector == nil || selects(peer.PodSelector, e.labels))
	})
}

func matchesPort(ports []networkingv1.NetworkPolicyPort, p port) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(allowed networkingv1.NetworkPolicyPort) bool {
		switch {
		case allowed.Protocol == nil || *allowed.Protocol != p.protocol: // checkNetwork reports that one is missing
			return false
		case allowed.Port.Type == intstr.String:
			return p.name == allowed.Port.StrVal
		case allowed.EndPort != nil:
			return allowed.Port.IntVal <= p.number && p.number <= *allowed.EndPort
		}
		return p.number == allowed.Port.IntVal
	})
}

// wantedArrows returns the connections of rule 15.5.
func (c *cluster) wantedArrows() (wanted []string) {
	has := func(component string) bool { return slices.Contains(c.components, component) }
	edge, serving := "edge", "edge,account,album,blog,poi"
	table := "edge -> account:9091\nedge -> album:9092\nedge -> blog:9093\nedge -> poi:9094\nalbum,blog,poi -> account:9091\n"
	everybody, clients := serving+",prepare,newcomer", "account,album,blog,poi,prepare"
	switch c.overlay {
	case "single":
		edge, serving, everybody = "standalone", "standalone", "standalone,backup,restore,newcomer"
		table = "backup -> standalone:9090\n"
	case "dev":
		everybody += ",mongodb,mongodb-initiate"
		table += clients + ",mongodb,mongodb-initiate -> mongodb:27017\n"
	case "prod":
		everybody += ",mongodump"
		table += clients + ",mongodump -> database:27017\n"
	}
	table += everybody + " -> dns:53\n" + everybody + " -> dns:53/UDP\n"
	if has("gateway-api") {
		table += "gateway -> " + edge + ":8080\n"
	} else {
		table += "controller -> " + edge + ":8080\n"
	}
	if has("tracing") {
		table += serving + " -> collector:4317\n"
	}
	if has("monitoring") || c.overlay == "prod" {
		for name := range strings.SplitSeq(serving, ",") {
			table += "prometheus -> " + name + ":8081\n"
		}
	}
	if has("caller") {
		table += "reports -> album:9092\n"
	}
	for line := range strings.Lines(table) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		if !strings.Contains(to, "/") {
			to += "/TCP"
		}
		for name := range strings.SplitSeq(from, ",") {
			wanted = append(wanted, name+" -> "+to)
		}
	}
	return wanted
}

// checkNetwork compares the connections that the policies allow with those of rule 15.5, and checks that each port
// names its protocol: kubectl compares these lists as a whole, and would report a change at each apply.
func checkNetwork(c *cluster, complain complain) {
	var got []string
	for _, from := range c.endpoints() {
		for _, to := range c.endpoints() {
			for _, p := range to.ports {
				if from.namespace != c.namespace && to.namespace != c.namespace || from.name == to.name &&
					to.namespace != c.namespace {
					continue
				}
				if c.allows(networkingv1.PolicyTypeEgress, from, to, p) &&
					c.allows(networkingv1.PolicyTypeIngress, to, from, p) {
					got = append(got, fmt.Sprintf("%s -> %s:%d/%s", from.name, to.name, p.number, p.protocol))
				}
			}
		}
	}
	wanted := c.wantedArrows()
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
	if p := named[*networkingv1.NetworkPolicy](c, "default-deny"); p == nil || !selects(&p.Spec.PodSelector, nil) ||
		len(p.Spec.PolicyTypes) != 2 || len(c.behind(&metav1.LabelSelector{})) == 0 {
		complain("no policy denies by default")
	}
}
